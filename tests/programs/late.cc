/*
 * Events at times when much is gone already: in destructors of threads, of the program and of its libraries, and in
 * threads that outlive main. Prints the same lines whether recorded or not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sonde/record.h>

namespace
{

void record(const char *name)
{
	SONDE_SCOPE("late");
	sonde_end(sonde_begin(name));
	SONDE_COUNTER("late counter", 1);
}

struct in_thread {
	~in_thread()
	{
		record("thread_local");
	}
	int used = 0;
};
thread_local in_thread local;

struct in_program {
	in_program()
	{
		record("constructor");
	}
	~in_program()
	{
		record("static destructor");
		printf("static destructor\n");
	}
} global;

pthread_key_t key;

/* Three times: other libraries' destructors, and ours, run in between. */
void at_key(void *value)
{
	record("key");
	long left = (long)value;
	if (left > 1)
		pthread_setspecific(key, (void *)(left - 1));
}

void at_exit()
{
	record("atexit");
	printf("atexit\n");
}

__attribute__((constructor)) void before_main()
{
	record("library constructor");
}

__attribute__((destructor)) void after_main()
{
	record("library destructor");
	printf("library destructor\n");
}

void *run(void *)
{
	local.used = 1;
	pthread_setspecific(key, (void *)3L);
	record("thread");
	return nullptr;
}

/* Is in the middle of things when the process ends. */
void *run_on(void *)
{
	for (;;)
		record("endless");
}

} // namespace

int main()
{
	pthread_t thread, endless;

	atexit(at_exit);
	pthread_key_create(&key, at_key);
	local.used = 1;
	for (int i = 0; i < 100; i++) {
		pthread_create(&thread, nullptr, run, nullptr);
		pthread_join(thread, nullptr);
	}
	pthread_create(&endless, nullptr, run_on, nullptr);
	pthread_detach(endless);
	usleep(20000);
	printf("main\n");
	return 3;
}

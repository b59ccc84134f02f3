/* sonde serve: the dashboard, until Ctrl-C. */
#include "cli/options.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sonde/serve.h>

#include "base/screen_text.h"

enum {
	PORT,
	OPEN,
	LISTEN,
	ALLOW_REMOTE,
	HOST,
	MAX_UPLOAD,
	QUERY_TIMEOUT,
	HOSTS_MAX = 8,
	LEAVE_SECONDS = 2,
	DEFAULT_PORT = 6970
};

static const option_def serve_options[] = {
	{ .name = "port", .id = PORT, .argument = "N", .help = "listen on port N; 0 picks a free one (default 6970)" },
	{ .name = "open", .id = OPEN, .help = "open the browser" },
	{ .name = "listen",
	  .id = LISTEN,
	  .argument = "ADDRESS",
	  .help = "listen on ADDRESS (default 127.0.0.1)",
	  .group = "Network" },
	{ .name = "allow-remote",
	  .id = ALLOW_REMOTE,
	  .help = "allow a --listen address that other machines can reach" },
	{ .name = "host",
	  .id = HOST,
	  .argument = "NAME[:PORT]",
	  .help = "also answer to this name of a tunnel or proxy" },
	{ .name = "max-upload",
	  .id = MAX_UPLOAD,
	  .argument = "SIZE",
	  .help = "limit the size of an uploaded trace (default 4G)",
	  .group = "Limits" },
	{ .name = "query-timeout",
	  .id = QUERY_TIMEOUT,
	  .argument = "S",
	  .help = "stop an SQL statement after S seconds (default 10)" },
	{ .name = NULL },
};

typedef struct asked {
	sonde_serve_options how;
	const char *hosts[HOSTS_MAX];
	bool opens_browser;
} asked;

static bool take_option(const options *o, int id, asked *a)
{
	uint64_t n;

	switch (id) {
	case PORT:
		if (!options_number(o, 0, UINT16_MAX, &n))
			return false;
		a->how.port = (uint16_t)n;
		return true;
	case OPEN:
		return a->opens_browser = true;
	case LISTEN:
		a->how.address = o->value;
		return true;
	case ALLOW_REMOTE:
		return a->how.allow_remote = true;
	case HOST:
		if (a->how.n_hosts == HOSTS_MAX)
			return say_usage(o->command, "--host may be given at most %d times", HOSTS_MAX), false;
		a->hosts[a->how.n_hosts++] = o->value;
		return true;
	case MAX_UPLOAD:
		return options_size(o, 1, (uint64_t)1 << 50, &a->how.upload_bytes);
	case QUERY_TIMEOUT:
		if (!options_number(o, 1, 1000000, &n))
			return false;
		a->how.query_ns = (int64_t)n * 1000000000;
		return true;
	}
	return false;
}

/* The browser outlives us, and says what it says to nobody. */
static void open_browser(const char *url)
{
	extern char **environ;
	char *const arguments[] = { (char *)"xdg-open", (char *)url, NULL };
	posix_spawn_file_actions_t quiet;
	posix_spawnattr_t signals;
	sigset_t none;
	pid_t pid;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1 /* O_WRONLY */, 0);
	posix_spawn_file_actions_adddup2(&quiet, 1, 2);
	posix_spawnattr_init(&signals);
	posix_spawnattr_setsigmask(&signals, &none);
	posix_spawnattr_setflags(&signals, POSIX_SPAWN_SETSIGMASK);
	if (posix_spawnp(&pid, arguments[0], &quiet, &signals, arguments, environ) != 0)
		say("serve: xdg-open is not installed; open the address in a browser");
	posix_spawn_file_actions_destroy(&quiet);
	posix_spawnattr_destroy(&signals);
}

static void leave(int unused)
{
	(void)unused;
	_exit(EXIT_OK);
}

static int serve(const asked *a, char *const *paths, size_t n_paths, const sigset_t *ends)
{
	sonde_error err = { .position = -1 };
	sonde_server *server = NULL;
	sonde_status status = sonde_server_start((const char *const *)paths, n_paths, &a->how, &server, &err);
	int number;

	if (status == SONDE_E_USAGE)
		return say_usage(&serve_command, "%s", err.message);
	if (status)
		return say_error(NULL, status, &err);
	printf("%s\n", sonde_server_url(server));
	fflush(stdout);
	if (!sonde_server_has_page(server))
		say("serve: built without the page, only the API works; install nodejs and npm and build again");
	if (a->opens_browser)
		open_browser(sonde_server_url(server));
	sigwait(ends, &number);
	/* An answer that takes long does not keep anybody who has said that this is the end. */
	signal(SIGALRM, leave);
	alarm(LEAVE_SECONDS);
	sonde_server_stop(server);
	alarm(0);
	return EXIT_OK;
}

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	asked a = { .how = { .struct_size = sizeof a.how, .port = DEFAULT_PORT } };
	size_t n_paths = 0;
	sigset_t ends;

	a.how.hosts = a.hosts;
	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n_paths++] = argv[o.at - 1];
		else if (id < 0 || !take_option(&o, id, &a))
			return options_exit_code(id);
	}
	/* Before there are threads: they all leave these to us. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return serve(&a, argv, n_paths, &ends);
}

const command serve_command = {
	.name = "serve",
	.group = "look",
	.summary = "Show traces in the browser: timeline, flames, findings",
	.usage = "[options] [FILE|DIR...]",
	.examples = { "sonde serve run.sonde", "sonde serve --open traces/", "sonde serve --port 0 trace.json.gz" },
	.options = serve_options,
	.run = run,
};

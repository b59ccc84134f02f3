/* Operations that another clock measured: their times lie centuries away. */
#include <stdint.h>
#include <unistd.h>
#include <sonde/record.h>

int main(void)
{
	sonde_stream stream = sonde_stream_register("gpu", "queue");
	int64_t start = sonde_now_ns();

	for (int i = 0; i < 10; i++) {
		SONDE_SCOPE("work");
		usleep(500);
	}
	sonde_op_record("near op", SONDE_COMPUTE, start, sonde_now_ns() - start);
	sonde_op_record("far op", SONDE_COMPUTE, INT64_MAX, 5);
	sonde_op_record("long op", SONDE_COMPUTE, start, INT64_MAX / 2);
	sonde_stream_slice(stream, sonde_launch("launch", stream), "far kernel", INT64_MIN / 2, INT64_MIN / 2 + 5);
	return 0;
}

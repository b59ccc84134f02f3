/*
 * What simdjson needs to read a trace: On-Demand, the same fields as Sonde (phase, category, name, pid, tid, ts, dur,
 * id) and every key of the arguments. It keeps nothing but sums.
 *
 *   bench_peer_simdjson FILE
 */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <simdjson.h>

using namespace simdjson;

struct sums {
	uint64_t n_events = 0, n_keys = 0, text = 0;
	double time = 0;
};

/* A number, or the length of anything else. */
static void add_value(sums &s, ondemand::value value)
{
	ondemand::json_type type = value.type();

	if (type == ondemand::json_type::number)
		s.time += double(value.get_double());
	else if (type == ondemand::json_type::string)
		s.text += std::string_view(value.get_string()).size();
}

static void read_event(sums &s, ondemand::object event)
{
	s.n_events++;
	for (auto field : event) {
		std::string_view key = field.unescaped_key();
		if (key == "args") {
			for (auto arg : field.value().get_object())
				s.n_keys += std::string_view(arg.unescaped_key()).size() != 0;
		} else if (key == "ph" || key == "cat" || key == "name" || key == "pid" || key == "tid" ||
			   key == "ts" || key == "dur" || key == "id") {
			add_value(s, field.value());
		}
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	try {
		padded_string text = padded_string::load(argv[1]);
		ondemand::parser parser;
		ondemand::document trace = parser.iterate(text);
		sums s;

		for (ondemand::object event : trace["traceEvents"].get_array())
			read_event(s, event);
		printf("%llu events %llu keys %llu bytes %g %s\n", (unsigned long long)s.n_events,
		       (unsigned long long)s.n_keys, (unsigned long long)s.text, s.time,
		       builtin_implementation()->name().c_str());
	} catch (const simdjson_error &error) {
		fprintf(stderr, "%s: %s\n", argv[1], error.what());
		return 1;
	}
	return 0;
}

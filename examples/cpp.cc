/*
 * The same in C++11: scopes in templates, inline functions, lambdas and classes, and exceptions thrown through them.
 * Prints how often each name must occur.
 *
 *   sonde record ./example_cpp
 */
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include <sonde/record.h>

namespace
{

const int n_calls = 100;

/* One name for all types; each instance counts for itself and the report adds them up. */
template <typename T> T sum(const std::vector<T> &values)
{
	SONDE_SCOPE("sum");

	return std::accumulate(values.begin(), values.end(), T());
}

inline double square(double x)
{
	SONDE_FUNCTION();

	return x * x;
}

class layer
{
      public:
	explicit layer(int id) : id_(id)
	{
	}

	double forward(const std::vector<double> &x) const
	{
		const int64_t dims[] = { static_cast<int64_t>(x.size()) };
		SONDE_SCOPE_ARGS("layer", SONDE_I64("id", id_), SONDE_SHAPE("x", dims, 1), SONDE_STR("type", "f64"));

		double y = 0;
		SONDE_OP("dot", SONDE_COMPUTE, .flops = 2.0 * x.size(), .bytes = 8.0 * x.size()) {
			for (double v : x)
				y += square(v);
		}
		return y + static_cast<double>(dims[0]);
	}

      private:
	int id_;
};

/* Three scopes are open when it throws; all of them end on the way out. */
void fail(int i)
{
	SONDE_FUNCTION();
	SONDE_OP("may throw", SONDE_OTHER) {
		SONDE_SCOPE_ARGS("throws", SONDE_I64("i", i));
		throw std::runtime_error("call " + std::to_string(i));
	}
}

int catch_all()
{
	int n_caught = 0;

	for (int i = 0; i < n_calls; i++) {
		SONDE_SCOPE("try");
		try {
			fail(i);
		} catch (const std::runtime_error &) {
			SONDE_MARK("caught");
			n_caught++;
		}
	}
	return n_caught;
}

} // namespace

int main()
{
	const std::vector<int> ints(10, 1);
	const std::vector<double> doubles(10, 0.5);
	const layer first(1);
	auto run = [&](int i) {
		SONDE_SCOPE("lambda");
		return sum(ints) + sum(doubles) + first.forward(doubles) + i;
	};
	double total = 0;

	for (int i = 0; i < n_calls; i++) {
		SONDE_STEP(i);
		total += run(i);
	}
	int n_caught = catch_all();
	SONDE_COUNTER("total", total);
	std::printf("lambda %d\nsum %d\nlayer %d\ndot %d\nsquare %d\n", n_calls, 2 * n_calls, n_calls, n_calls,
		    10 * n_calls);
	std::printf("try %d\nfail %d\nmay throw %d\nthrows %d\n", n_caught, n_caught, n_caught, n_caught);
	return n_caught == n_calls ? 0 : 1;
}

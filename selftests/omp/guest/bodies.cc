// SPDX-License-Identifier: GPL-2.0
/*
 * Bodies that attract each other, in C++ as such programs are: vectors of
 * structures, neighbours in a vector for each body that whoever computes it fills,
 * loops of three schedules, a reduction.  Their energy and momentum are kept.
 *	bodies [HOW-MANY [STEPS]]
 */
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Vector {
	double x, y, z;

	Vector operator+(const Vector &o) const
	{
		return { x + o.x, y + o.y, z + o.z };
	}
	Vector operator-(const Vector &o) const
	{
		return { x - o.x, y - o.y, z - o.z };
	}
	Vector operator*(double f) const
	{
		return { x * f, y * f, z * f };
	}
	double square() const
	{
		return x * x + y * y + z * z;
	}
};

struct Body {
	Vector at, speed, force;
	std::vector<int> near;
};

static const double step = 0.001, soft = 0.05, reach = 1.2;
static std::vector<Body> bodies;

/* Without a random number: the same in each run. */
static void create(int n)
{
	for (int i = 0; i < n; i++) {
		Body b = {};

		b.at = { fmod(i * 0.618034, 1), fmod(i * 0.414214, 1),
			 fmod(i * 0.732051, 1) };
		b.speed = { b.at.y - 0.5, 0.5 - b.at.x, 0 };
		bodies.push_back(b);
	}
}

static void find_neighbours()
{
#pragma omp parallel for schedule(guided)
	for (size_t i = 0; i < bodies.size(); i++) {
		bodies[i].near.clear();
		for (size_t j = 0; j < bodies.size(); j++)
			if (j != i && (bodies[i].at - bodies[j].at).square() <
			    reach * reach)
				bodies[i].near.push_back(j);
	}
}

/* Twice the potential, of each pair that is near. */
static double pull()
{
	double potential = 0;

#pragma omp parallel for schedule(dynamic, 4) reduction(+ : potential)
	for (size_t i = 0; i < bodies.size(); i++) {
		Vector sum = { 0, 0, 0 };

		for (int j : bodies[i].near) {
			Vector d = bodies[j].at - bodies[i].at;
			double r = sqrt(d.square() + soft);

			sum = sum + d * (1 / (r * r * r));
			potential -= 1 / r;
		}
		bodies[i].force = sum * (1.0 / bodies.size());
	}
	return potential / bodies.size();
}

static void move(double time)
{
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < bodies.size(); i++) {
		bodies[i].speed = bodies[i].speed + bodies[i].force * (time / 2);
		bodies[i].at = bodies[i].at + bodies[i].speed * time;
	}
}

static double finish(double time)
{
	double kinetic = 0;

#pragma omp parallel for schedule(static) reduction(+ : kinetic)
	for (size_t i = 0; i < bodies.size(); i++) {
		bodies[i].speed = bodies[i].speed + bodies[i].force * (time / 2);
		kinetic += bodies[i].speed.square() / 2;
	}
	return kinetic;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 150;
	int steps = argc > 2 ? atoi(argv[2]) : 10;
	Vector momentum = { 0, 0, 0 }, before = { 0, 0, 0 };
	double first, last = 0, begin;

	create(n);
	for (const Body &b : bodies)
		before = before + b.speed;
	begin = omp_get_wtime();
	find_neighbours();
	first = pull() / 2;
	first += finish(0);
	for (int i = 0; i < steps; i++) {
		move(step);
		if (i % 5 == 4)
			find_neighbours();
		last = pull() / 2;
		last += finish(step);
	}
	begin = omp_get_wtime() - begin;
	for (const Body &b : bodies)
		momentum = momentum + b.speed;
	printf("bodies: %d, energy %.4f, %s\n", n, last,
	       fabs(last - first) < 1e-4 * fabs(first) &&
	       (momentum - before).square() < 1e-18 ? "right" : "wrong");
	printf("seconds: %.9f\n", begin);
	return 0;
}

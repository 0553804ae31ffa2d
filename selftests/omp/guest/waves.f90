! SPDX-License-Identifier: GPL-2.0
! A standing wave on a square, in Fortran as such programs are: allocatable arrays
! in a derived type, allocated once and exchanged by move_alloc, array expressions
! in workshare, loops of two schedules, a maximum.  It is compared with the
! closed form.
!   waves [POINTS [STEPS]]
module squares
  implicit none
  real(8), parameter :: pi = 3.141592653589793d0

  type square
    integer :: n
    real(8) :: width, step, time
    real(8), allocatable :: before(:, :), now(:, :), next(:, :)
  end type
contains
  subroutine create(s, n)
    type(square), intent(out) :: s
    integer, intent(in) :: n
    integer :: i, j

    s%n = n
    s%width = 1d0 / n
    s%step = s%width / 2
    s%time = 0
    allocate (s%before(0:n, 0:n), s%now(0:n, 0:n), s%next(0:n, 0:n))
    !$omp parallel do private(i) schedule(static)
    do j = 0, n
      do i = 0, n
        s%now(i, j) = sin(pi * i * s%width) * sin(pi * j * s%width)
      end do
    end do
    !$omp parallel workshare
    s%before = s%now * cos(sqrt(2d0) * pi * s%step)
    s%next = 0
    !$omp end parallel workshare
  end subroutine

  subroutine advance(s)
    type(square), intent(inout) :: s
    real(8), allocatable :: old(:, :)
    real(8) :: f
    integer :: i, j

    f = (s%step / s%width)**2
    !$omp parallel do private(i) schedule(dynamic, 8)
    do j = 1, s%n - 1
      do i = 1, s%n - 1
        s%next(i, j) = 2 * s%now(i, j) - s%before(i, j) + f * &
                       (s%now(i - 1, j) + s%now(i + 1, j) + s%now(i, j - 1) &
                        + s%now(i, j + 1) - 4 * s%now(i, j))
      end do
    end do
    s%time = s%time + s%step
    call move_alloc(s%before, old)
    call move_alloc(s%now, s%before)
    call move_alloc(s%next, s%now)
    call move_alloc(old, s%next)
  end subroutine

  function error(s)
    type(square), intent(in) :: s
    real(8) :: error, exact
    integer :: i, j

    error = 0
    !$omp parallel do private(i, exact) reduction(max : error)
    do j = 0, s%n
      do i = 0, s%n
        exact = sin(pi * i * s%width) * sin(pi * j * s%width) * &
                cos(sqrt(2d0) * pi * s%time)
        error = max(error, abs(s%now(i, j) - exact))
      end do
    end do
  end function
end module

program waves
  use squares
  use omp_lib
  integer :: n = 100, steps = 50, i
  real(8) :: begin
  type(square) :: s
  character(16) :: word

  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) n
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, word)
    read (word, *) steps
  end if
  begin = omp_get_wtime()
  call create(s, n)
  do i = 1, steps
    call advance(s)
  end do
  begin = omp_get_wtime() - begin
  print '(a, i0, a, i0, a, es10.3, a)', 'waves: ', n, ' points, ', steps, &
    ' steps, error', error(s), merge(', right', ', wrong', error(s) < 1d-3)
  print '(a, f0.9)', 'seconds: ', begin
end program

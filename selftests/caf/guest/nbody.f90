! SPDX-License-Identifier: GPL-2.0
! Bodies that attract each other, each image with some of them.  Each step an
! image takes the others' places with one get from each, in an order of its own;
! energy and momentum are sums over all images.  Both are kept.
program nbody
  use iso_fortran_env, only: real64, event_type
  implicit none
  integer, parameter :: each = 12, steps = 40
  real(real64), parameter :: dt = 1d-3, soft = 1d-2
  type body
    real(real64) :: mass, x(3)
    real(real64), allocatable :: v(:)
  end type
  type(body), allocatable :: mine(:)[:]
  type(event_type), allocatable :: moved(:)[:]
  real(real64), allocatable :: x(:, :), m(:)
  real(real64) :: before(4), after(4)
  integer :: me, n, step, i

  me = this_image()
  n = num_images()
  allocate(mine(each)[*], moved(n)[*], x(3, each * n), m(each * n))
  call random_init(repeatable=.true., image_distinct=.true.)
  do i = 1, each
    mine(i)%mass = 1d0 / (each * n)
    call random_number(mine(i)%x)
    allocate(mine(i)%v(3))
    call random_number(mine(i)%v)
    mine(i)%v = 0.1d0 * (mine(i)%v - 0.5d0)
  end do
  sync all
  step = 0
  call gather()
  before = kept()

  do step = 1, steps
    call push(0.5d0)
    do i = 1, each
      mine(i)%x = mine(i)%x + dt * mine(i)%v
    end do
    call tell()
    call gather()
    call push(0.5d0)
    sync all
  end do

  after = kept()
  if (abs(after(1) / before(1) - 1) > 1d-5) error stop 'energy is lost'
  if (maxval(abs(after(2:) - before(2:))) > 1d-12) error stop 'momentum is lost'
  ! What the velocities of the last image are, read as components of components.
  after(2:) = mine(each)[n]%v(:)
  call co_broadcast(after, source_image=n)
  if (any(after(2:) /= mine(each)[n]%v(:))) error stop 'two velocities'
  if (me == 1) print '(a, i0, a, i0, a)', 'nbody: ', each * n, ' bodies on ', &
    n, ' images, right'

contains

  ! All others may have what is here.
  subroutine tell()
    integer :: j

    do j = 1, n
      if (j /= me) event post(moved(me)[j])
    end do
  end subroutine

  subroutine gather()
    integer :: j, k, first

    do k = 0, n - 1
      j = mod(me - 1 + k, n) + 1
      if (step > 0 .and. j /= me) event wait(moved(j))
      first = each * (j - 1)
      m(first + 1:first + each) = mine(:)[j]%mass
      call places(j, first)
    end do
  end subroutine

  subroutine places(j, first)
    integer, intent(in) :: j, first
    integer :: b

    do b = 1, each
      x(:, first + b) = mine(b)[j]%x
    end do
  end subroutine

  subroutine push(part)
    real(real64), intent(in) :: part
    real(real64) :: a(3), d(3)
    integer :: b, j

    do b = 1, each
      a = 0
      do j = 1, each * n
        d = x(:, j) - mine(b)%x
        a = a + m(j) * d / (sum(d * d) + soft)**1.5d0
      end do
      mine(b)%v = mine(b)%v + part * dt * a
    end do
  end subroutine

  ! Energy and momentum of all.
  function kept()
    real(real64) :: kept(4), d(3)
    integer :: b, j

    kept = 0
    do b = 1, each
      kept(1) = kept(1) + 0.5d0 * mine(b)%mass * sum(mine(b)%v**2)
      kept(2:) = kept(2:) + mine(b)%mass * mine(b)%v
      do j = 1, each * n
        d = x(:, j) - mine(b)%x
        if (j /= each * (me - 1) + b) kept(1) = kept(1) - &
          0.5d0 * mine(b)%mass * m(j) / sqrt(sum(d * d) + soft)
      end do
    end do
    call co_sum(kept)
  end function
end program

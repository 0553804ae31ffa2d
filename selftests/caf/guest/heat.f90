! SPDX-License-Identifier: GPL-2.0
! The heat equation on a rod, each image with a part of it: neighbours put their
! ends into each other's coarray.  The result is compared with the closed form,
! and with what each image reads of all others.  Says where each image was.
program heat
  use iso_fortran_env, only: real64, lock_type
  implicit none
  integer, parameter :: width = 64, steps = 400
  real(real64), parameter :: pi = acos(-1d0)
  real(real64), allocatable :: u(:)[:]
  real(real64) :: next(width), r, x, error, all
  integer :: total[*]
  type(lock_type) :: lock[*]
  character(len=16) :: where[*]
  integer :: me, n, i, step, before

  me = this_image()
  n = num_images()
  total = 0
  where = host()
  allocate(u(0:width + 1)[*])
  r = 0.25d0
  do i = 0, width + 1
    u(i) = sin(pi * place(i))
  end do
  sync all

  do step = 1, steps
    if (me > 1) u(width + 1)[me - 1] = u(1)
    if (me < n) u(0)[me + 1] = u(width)
    call meet_neighbours()
    do i = 1, width
      next(i) = u(i) + r * (u(i - 1) - 2 * u(i) + u(i + 1))
    end do
    call meet_neighbours()
    u(1:width) = next
    if (me == 1) u(0) = 0
    if (me == n) u(width + 1) = 0
  end do

  ! The first mode is an eigenvector of the scheme.
  x = (1 - 4 * r * sin(pi / (2 * (n * width + 1)))**2)**steps
  error = 0
  do i = 1, width
    error = max(error, abs(u(i) - x * sin(pi * place(i))))
  end do
  if (error > 1d-12) then
    print *, 'image', me, 'is wrong by', error
    error stop 3
  end if

  lock(lock[1])
  before = total[1]             ! in an expression gfortran 15 takes its own
  total[1] = before + me
  unlock(lock[1])
  sync all
  if (me == 1) then
    all = 0
    do i = 1, n
      all = all + sum(u(1:width)[i])
      print '(a, i0, 2a)', 'image ', i, ' on ', trim(where[i])
    end do
    if (total /= n * (n + 1) / 2) error stop 'the lock lets two in'
    all = all * tan(pi / (2 * (n * width + 1))) / x
    if (abs(all - 1) > 1d-9) error stop 'the sum over all images is wrong'
    print '(a, i0, a)', 'heat: ', n, ' images, right'
  end if

contains

  ! Of the whole rod, whose ends are 0 and 1.
  real(real64) function place(i)
    integer, intent(in) :: i

    place = real((me - 1) * width + i, real64) / (n * width + 1)
  end function

  subroutine meet_neighbours()
    if (me > 1 .and. me < n) then
      sync images ([me - 1, me + 1])
    else if (me > 1) then
      sync images (me - 1)
    else if (n > 1) then
      sync images (me + 1)
    end if
  end subroutine

  function host()
    character(len=16) :: host

    call hostnm(host)
  end function
end program

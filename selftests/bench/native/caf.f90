! SPDX-License-Identifier: GPL-2.0
! What gets and puts of coarrays cost: image 1 reads and writes those of image 2,
! which waits for it.  A line for each, with nanoseconds of one.
program caf
  implicit none
  integer, parameter :: many = 1000, plain = 1, section = 2, strided = 3
  integer(8) :: begin, end, rate
  real(8) :: block(many)[*], here(many)
  integer :: scalar[*], rounds, kind, i, value
  logical :: put
  character(16) :: word

  call get_command_argument(1, word)
  read (word, *) rounds
  block = this_image()
  scalar = this_image()
  here = 0
  call system_clock(count_rate=rate)
  sync all
  do kind = plain, strided
    do i = 0, 1
      put = i == 1
      if (this_image() == 1) call turn()
      sync all
    end do
  end do
  call system_clock(begin)
  do i = 1, rounds
    sync all
  end do
  call system_clock(end)
  if (this_image() == 1) call tell('sync', rounds)
  if (any(here < 0) .or. value < 0) error stop 1
contains
  ! The first ones are not counted: memory is there then.
  subroutine turn()
    integer :: n

    n = rounds
    if (kind == strided) n = rounds / 20 + 1
    call run(n / 10 + 1)
    call system_clock(begin)
    call run(n)
    call system_clock(end)
    call tell(trim(merge('put', 'get', put)), n)
  end subroutine

  subroutine run(n)
    integer, intent(in) :: n
    integer :: j

    do j = 1, n
      if (kind == plain .and. put) scalar[2] = j
      if (kind == plain .and. .not. put) value = scalar[2]
      if (kind == section .and. put) block(:)[2] = here
      if (kind == section .and. .not. put) here = block(:)[2]
      if (kind == strided .and. put) block(::2)[2] = here(::2)
      if (kind == strided .and. .not. put) here(::2) = block(::2)[2]
    end do
    sync memory
  end subroutine

  subroutine tell(what, n)
    character(*), intent(in) :: what
    integer, intent(in) :: n

    print '(2a, i0, a, f0.1)', what, '-', kind, ' ', &
      (end - begin) * 1d9 / rate / n
  end subroutine
end program

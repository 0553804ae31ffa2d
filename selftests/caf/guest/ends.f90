! SPDX-License-Identifier: GPL-2.0
! Image 2 of three ends in the way that the argument says, while the others
! compute, wait for it, or ask whether it is there.
program ends
  use iso_fortran_env, only: lock_type, output_unit
  implicit none
  interface
    integer(4) function getpid() bind(c)
    end function
    integer(4) function kill(pid, signal) bind(c)
      integer(4), value :: pid, signal
    end function
  end interface
  type(lock_type) :: lock[*]
  integer :: x[*]
  character(len=16) :: how
  integer, allocatable :: failed(:)
  integer, pointer :: much(:)
  integer :: stat

  call get_command_argument(1, how)
  x = this_image()
  sync all
  if (this_image() == 1 .and. (how == 'wait' .or. how == 'survive')) then
    print '(a)', 'begun'
    flush(output_unit)
  end if
  select case (how)
  case ('stop')
    stop 3
  case ('error')
    if (this_image() == 2) error stop 4
    call compute()
  case ('exit')
    if (this_image() == 2) call exit(5)
    call compute()
  case ('abort')
    if (this_image() == 2) call abort()
    if (this_image() == 3) sync images (2)
    call compute()
  case ('kill')
    if (this_image() == 2) stat = kill(getpid(), 9)
    if (this_image() == 1) sync all
    call compute()
  case ('bounds')
    if (this_image() == 2) x[this_image() + 2] = 1
    call compute()
  case ('result')
    call co_sum(x, result_image=merge(9, 1, this_image() == 2))
  case ('source')
    call co_broadcast(x, source_image=merge(0, 1, this_image() == 2))
  case ('wait')
    if (this_image() == 2) call sleep(600)
    sync all
  case ('full')
    stat = merge(0, 1, this_image() == 2)
    do while (stat == 0)
      allocate(much(1000000), stat=stat)
      if (stat == 0) much = 1
    end do
    sync all
  case ('fail', 'survive')
    if (this_image() == 2 .and. how == 'fail') fail image
    if (this_image() == 2) call sleep(600)
    sync all (stat=stat)
    failed = failed_images()
    print '(a, i0, a, i0, a, *(i0))', 'after ', stat, ', ', &
      num_images(failed=.true.), ' failed, image ', failed
    sync all (stat=stat)
  case ('early')
    if (this_image() == 2) stop
    sync all (stat=stat)
    print '(a, i0, a, i0, a)', 'after ', stat, ', ', &
      num_images(failed=.true.), ' failed'
    sync images ([1, 3], stat=stat)
  case ('lock')
    if (this_image() == 2) then
      lock(lock[1])
      fail image
    end if
    sync all (stat=stat)
    if (this_image() == 1) then
      lock(lock, stat=stat)
      print '(a, i0)', 'after ', stat
    end if
  end select

contains

  ! For a minute; nothing of ours is called.
  subroutine compute()
    integer(8) :: start, now, rate

    call system_clock(start, rate)
    do
      call system_clock(now)
      if (now - start > 60 * rate) exit
    end do
  end subroutine
end program

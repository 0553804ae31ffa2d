! SPDX-License-Identifier: GPL-2.0
! A unit that main has opened, which all members write and one reads and closes; one
! that each has opened itself, and main reads; a scratch file, and direct access.
!   units MEMBERS FOLDER
program units
  use omp_lib
  implicit none
  integer, parameter :: rounds = 40
  integer :: members, unit, i, n, who, number, status
  integer, allocatable :: seen(:), own(:)
  character(256) :: folder
  character(80) :: line
  logical :: right = .true., there

  call get_command_argument(1, line)
  read (line, *) members
  call get_command_argument(2, folder)
  allocate (seen(0:members - 1), own(0:members - 1))

  open (newunit=unit, file=trim(folder) // '/unit', status='replace', &
        action='readwrite')
  !$omp parallel private(i)
  do i = 1, rounds
    write (unit, '(2i6, a)') omp_get_thread_num(), i, ' of a line'
  end do
  !$omp end parallel
  rewind (unit)
  n = 0
  seen = 0
  !$omp parallel
  if (omp_get_thread_num() == members - 1) then
    do
      read (unit, '(2i6, a)', iostat=status) who, number, line
      if (status /= 0) exit
      if (number /= seen(who) + 1 .or. line /= ' of a line') right = .false.
      seen(who) = number
      n = n + 1
    end do
    close (unit)
  end if
  !$omp end parallel
  if (n /= members * rounds) right = .false.
  inquire (unit=unit, opened=there)
  if (there) right = .false.
  if (.not. right) stop 'WRONG: a unit that main has opened'

  !$omp parallel private(line)
  write (line, '(2a, i0)') trim(folder), '/own', omp_get_thread_num()
  open (newunit=own(omp_get_thread_num()), file=line, status='replace', &
        action='readwrite')
  write (own(omp_get_thread_num()), *) omp_get_thread_num() * 7
  !$omp end parallel
  do i = 0, members - 1
    rewind (own(i))
    read (own(i), *) number
    if (number /= i * 7) stop 'WRONG: a unit that a member has opened'
    close (own(i), status='delete')
  end do

  open (20, status='scratch', form='unformatted', access='direct', recl=8)
  !$omp parallel
  write (20, rec=omp_get_thread_num() + 1) omp_get_thread_num() * 3, 1
  !$omp end parallel
  do i = 0, members - 1
    read (20, rec=i + 1) number
    if (number /= i * 3) stop 'WRONG: direct access'
  end do
  ! The region is amid the statement.
  print '(i0, a)', count_all(), ' members, all right'
contains
  integer function count_all()
    count_all = 0
    !$omp parallel reduction(+ : count_all)
    count_all = count_all + 1
    !$omp end parallel
  end function
end program

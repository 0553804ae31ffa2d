! SPDX-License-Identifier: GPL-2.0
! A program of Fortran: allocatable arrays, a module's variables, private ones
! that are common to a thread, output of each member; the first argument is how
! many members are expected.
module fields
  integer, parameter :: n = 2000
  real(8) :: fixed(n)
  real(8), allocatable :: grown(:)
  integer, save :: mine = 3
  !$omp threadprivate(mine)
end module

subroutine check(good, what)
  logical, intent(in) :: good
  character(*), intent(in) :: what
  if (.not. good) then
    print *, 'WRONG: ', what
    stop 1
  end if
end subroutine

program main
  use fields
  use omp_lib
  integer :: i, members, total, automatic(n)
  integer(omp_lock_kind) :: lock
  character(8) :: word
  real(8) :: sum
  real(8), allocatable :: parts(:)

  call get_command_argument(1, word)
  read (word, *) members
  call check(omp_get_max_threads() == members, 'threads')
  allocate (grown(n))
  sum = 0
  !$omp parallel do reduction(+ : sum)
  do i = 1, n
    fixed(i) = i
    grown(i) = 2 * i
    automatic(i) = i
    sum = sum + i
  end do
  call check(sum == n * (n + 1) / 2, 'reduction')
  call check(all(grown == 2 * fixed) .and. all(automatic == int(fixed)), &
             'arrays')

  total = 0
  allocate (parts(members))
  !$omp parallel copyin(mine) private(i)
  mine = mine + omp_get_thread_num()
  !$omp critical
  total = total + mine
  parts(omp_get_thread_num() + 1) = grown(n)
  write (*, '(a, i0)') 'member ', omp_get_thread_num()
  !$omp end critical
  !$omp end parallel
  call check(total == 3 * members + members * (members - 1) / 2, 'copyin')
  call check(all(parts == 2 * n), 'allocated before, read by all')

  call omp_init_lock(lock)
  total = 0
  !$omp parallel private(i)
  !$omp do schedule(dynamic, 3)
  do i = 1, 100
    call omp_set_lock(lock)
    total = total + i
    call omp_unset_lock(lock)
  end do
  !$omp workshare
  grown = fixed + 1
  !$omp end workshare
  !$omp single
  do i = 1, 10
    !$omp task firstprivate(i)
    !$omp atomic
    total = total + i
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  call check(total == 5050 + 55, 'locks, tasks')
  call check(all(grown == fixed + 1), 'workshare')
  print '(i0, a)', members, ' members, all right'
end program

! SPDX-License-Identifier: GPL-2.0
! What queries.cc has, by Fortran's names, with integers of 4 and of 8 bytes.
!   fortran MEMBERS
program fortran
  use omp_lib
  implicit none
  integer, parameter :: long = 8
  integer(omp_nest_lock_kind) :: nested
  integer(omp_lock_kind) :: lock
  integer(omp_event_handle_kind) :: event
  integer :: members, wrong, total, tried, chunk
  integer(omp_sched_kind) :: kind
  integer(long) :: more
  character(40) :: text
  logical :: good

  call get_command_argument(1, text)
  read (text, *) members
  wrong = 0
  total = 0
  tried = 0
  call omp_init_nest_lock(nested)
  call omp_init_lock(lock)
  !$omp parallel reduction(+ : wrong)
  call omp_set_nest_lock(nested)
  wrong = wrong + merge(0, 1, omp_test_nest_lock(nested) == 2)
  total = total + 1
  call omp_unset_nest_lock(nested)
  call omp_unset_nest_lock(nested)
  do while (.not. omp_test_lock(lock))
  end do
  tried = tried + 1
  call omp_unset_lock(lock)
  call omp_set_lock(lock)
  tried = tried + 1
  call omp_unset_lock(lock)
  !$omp end parallel
  call omp_destroy_nest_lock(nested)
  call omp_destroy_lock(lock)
  call check(wrong == 0 .and. total == members .and. tried == 2 * members, 'locks')
  total = 0
  !$omp parallel
  !$omp single
  !$omp task detach(event)
  total = 1
  !$omp end task
  call omp_fulfill_event(event)
  !$omp taskwait
  total = total + 1
  !$omp end single
  !$omp end parallel
  call check(total == 2, 'an event')

  good = .not. (omp_in_parallel() .or. omp_in_final() .or. omp_get_level() > 0)
  !$omp parallel reduction(+ : wrong)
  if (.not. omp_in_parallel()) wrong = wrong + 1
  if (omp_get_active_level() /= 1 .or. omp_get_level() /= 1) wrong = wrong + 1
  if (omp_get_team_size(1) /= members) wrong = wrong + 1
  if (omp_get_team_size(1_long) /= members) wrong = wrong + 1
  if (omp_get_ancestor_thread_num(1_long) /= omp_get_thread_num()) &
    wrong = wrong + 1
  if (omp_get_ancestor_thread_num(0) /= 0) wrong = wrong + 1
  if (omp_get_ancestor_thread_num(-huge(1_long)) /= -1) wrong = wrong + 1
  !$omp end parallel
  call check(good .and. wrong == 0, 'regions')

  call threads(1)
  call omp_set_num_threads(int(members, long))
  call threads(members)
  call omp_set_schedule(omp_sched_dynamic, 3)
  call omp_get_schedule(kind, chunk)
  call check(iand(int(kind), 255) == 2 .and. chunk == 3, 'schedules')
  call omp_set_schedule(omp_sched_guided, 5_long)
  call omp_get_schedule(kind, more)
  call check(iand(int(kind), 255) == 3 .and. more == 5, 'schedules, long')
  call omp_set_dynamic(.true.)
  good = omp_get_dynamic()
  call omp_set_dynamic(.false._long)
  call check(good .and. .not. omp_get_dynamic(), 'dynamic')
  call omp_set_max_active_levels(3_long)
  call check(omp_get_max_active_levels() == 3, 'levels')
  call omp_set_num_teams(4_long)
  call omp_set_teams_thread_limit(2)
  call check(omp_get_max_teams() == 4 .and. &
             omp_get_teams_thread_limit() == 2, 'teams')
  call omp_set_default_device(1_long)
  call check(omp_get_default_device() == 1 .and. omp_get_num_devices() == 0 &
             .and. omp_is_initial_device(), 'devices')
  call omp_set_default_allocator(omp_const_mem_alloc)
  call check(omp_get_default_allocator() == omp_const_mem_alloc, 'allocators')
  call omp_set_affinity_format('%n of %N')
  call check(omp_get_affinity_format(text) == 8 .and. text == '%n of %N', &
             'the format')
  call check(omp_capture_affinity(text, '%n|') == 2 .and. text == '0|', &
             'the format, followed')
  call check(omp_get_wtick() > 0 .and. omp_get_num_procs() > 0, 'a tick')
  print '(i0, a)', members, ' members, all right'
contains
  subroutine threads(n)
    integer, intent(in) :: n
    integer :: found

    if (n == 1) call omp_set_num_threads(n)
    found = 0
    !$omp parallel reduction(+ : found)
    found = found + omp_get_num_threads()
    !$omp end parallel
    call check(found == n * n, 'omp_set_num_threads')
  end subroutine

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what

    if (right) return
    print '(2a)', 'WRONG: ', what
    stop 1
  end subroutine
end program

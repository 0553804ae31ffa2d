! SPDX-License-Identifier: GPL-2.0
! Each kind of coarray and each statement once, on any number of images; each
! image compares what it finds with what must be there.
module right
  implicit none
  integer :: wrong = 0
contains
  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what

    if (ok) return
    wrong = wrong + 1
    print '(a, i0, 2a)', 'wrong on image ', this_image(), ': ', what
  end subroutine

  ! Who stands beside this image.
  integer function next()
    next = mod(this_image(), num_images()) + 1
  end function
end module

module arrays
  use right
  implicit none
contains
  subroutine sections()
    integer, save :: n(10)[*], low(0:9)[*]
    integer, allocatable :: m(:, :)[:]
    integer :: me, k, i, v(3), which(3)

    me = this_image()
    k = next()
    n = [(100 * me + i, i = 1, 10)]
    low = [(100 * me + i, i = 0, 9)]
    allocate(m(3, 4)[*])
    m = me
    sync all
    call check(n(3)[k] == 100 * k + 3, 'an element')
    which = [2, 5, 9]           ! gfortran 15 takes no constructor there
    v = n(which)[k]
    call check(all(v == 100 * k + [2, 5, 9]), 'a vector subscript')
    which = [0, 5, 9]
    v = low(which)[k]
    call check(all(v == 100 * k + [0, 5, 9]), 'one whose bounds begin at 0')
    sync all
    n(2:10:2)[k] = [1, 2, 3, 4, 5]
    m(:, 2)[k] = n(1:5:2)[me]
    m(2, 3:4)[k] = 7
    sync all
    call check(all(n(2:10:2) == [1, 2, 3, 4, 5]), 'a section with a stride')
    i = merge(num_images(), me - 1, me == 1)
    call check(all(m(:, 2) == 100 * i + [1, 3, 5]), 'from one to another')
    call check(all(m(2, 3:4) == 7) .and. all(m(:, 1) == me), 'a scalar')
    sync all
    n = [(i, i = 1, 10)]
    n(10:1:-1)[me] = n(:)[me]
    call check(all(n == [(11 - i, i = 1, 10)]), 'over itself')
    n(2:10)[me] = n(1:9)
    call check(all(n(2:10) == [(11 - i, i = 1, 9)]), 'moved on')
    n(2:6)[me] = n(1:9:2)
    call check(all(n(2:6) == [10, 9, 7, 5, 3]), 'from a section')
    sync all
    deallocate(m)
  end subroutine

  subroutine kinds()
    integer(8), save :: wide(3)[*]
    real(4), save :: r(3)[*]
    complex(8), save :: c(1)[*]
    character(len=6), save :: text[*]
    character(kind=4, len=6), save :: text4[*]
    character(len=4) :: short
    integer(1) :: i1(3)
    real(8) :: r8(3)
    complex(4) :: c4(1)

    wide = this_image() + [1, 2, 3]
    r = this_image() * 0.5
    c = cmplx(this_image(), -1, 8)
    text = 'abcdef'
    text4 = 4_'wide'
    sync all
    i1 = wide(:)[next()]
    call check(all(i1 == next() + [1, 2, 3]), 'integers of 8 bytes into 1')
    r8 = wide(:)[next()]
    call check(all(r8 == next() + [1, 2, 3]), 'integers into reals')
    sync all
    wide(:)[this_image()] = r(:)[next()]
    call check(all(wide == int(next() * 0.5)), 'reals into integers')
    c4 = c(:)[next()]
    call check(c4(1) == cmplx(next(), -1), 'complex')
    short = text[next()]        ! cut off
    call check(short == 'abcd', 'a text cut off')
    short = text4[next()]
    call check(short == 'wide', 'a text of another kind')
    sync all
    text[next()] = 'x'
    sync all
    call check(text == 'x', 'a text filled up')
  end subroutine
end module

module components
  use right
  implicit none
  type inner
    integer, allocatable :: b(:)
    integer :: k = 0
  end type
  type outer
    integer :: i = 0
    real :: s(4, 6)
    real, allocatable :: a(:, :)
    integer, allocatable :: scalar
    integer, pointer :: p(:) => null()
    type(inner), allocatable :: w(:)
  end type
contains
  subroutine fill(x)
    type(outer), intent(inout) :: x[*]
    integer :: me, i, j

    me = this_image()
    x%s = reshape([((1000 * me + 10 * i + j, i = 1, 4), j = 1, 6)], [4, 6])
    allocate(x%a(2, 3))
    x%a = reshape([((100 * me + 10 * i + j, i = 1, 2), j = 1, 3)], [2, 3])
    allocate(x%scalar, source = 7 * me)
    allocate(x%p(4))
    x%p = me * [1, 2, 3, 4]
    allocate(x%w(2))
    x%w(1)%b = me + [0, 1, 2]
    x%w(2)%b = [1]
    x%w(2)%k = 5 * me
    sync all
  end subroutine

  subroutine parts()
    type(outer), save :: x[*]
    type(outer), allocatable :: y(:)[:]
    integer, allocatable :: list(:)
    real, allocatable :: q(:, :)
    real(8) :: d(3)
    integer :: k, i

    k = next()
    allocate(y(3)[*])
    call fill(x)
    d = x[k]%s(2, 3:5)
    call check(all(d == 1000 * k + [23, 24, 25]), 'part of an array')
    q = x[k]%s(1:3:2, 6:2:-2)
    call check(all(q == 1000 * k + reshape([16, 36, 14, 34, 12, 32], [2, 3])), &
               'backwards')
    q = x[k]%a(:, 2:3)
    call check(all(shape(q) == 2), 'an assignment allocates')
    call check(all(q == 100 * k + reshape([12, 22, 13, 23], [2, 2])), &
               'an allocatable component')
    i = x[k]%scalar
    call check(i == 7 * k, 'a scalar component')
    i = x[k]%p(3)
    call check(i == 3 * k, 'a pointer component')
    list = x[k]%w(1)%b
    call check(size(list) == 3 .and. all(list == k + [0, 1, 2]), &
               'a component of a component')
    i = x[k]%w(2)%k
    call check(i == 5 * k, 'one in place there')
    call check(allocated(x[k]%scalar), 'it is allocated')
    call check(.not. allocated(y(1)[k]%a), 'it is not')
    sync all
    x[k]%a(1, 2:3) = [1d0, 2d0]
    y(2:3)[k]%i = [8, 9]
    y(1)[k]%a = x[k]%s(1:2, 1:2)
    sync all
    call check(all(x%a(1, 2:3) == [1, 2]), 'into a component')
    call check(all(y%i == [0, 8, 9]), 'into one of each element')
    call check(allocated(y(1)%a), 'an assignment allocates there')
    x%w(1)%b = [1, 2, 3, 4, 5]
    deallocate(x%a, y)
    sync all
  end subroutine
end module

module others
  use right
  use iso_fortran_env
  implicit none
contains
  subroutine locks()
    type(lock_type), save :: lock(2)[*]
    integer, save :: sum[*], count[*]
    logical :: mine
    integer :: i, stat, before

    sum = 0
    count = 0
    sync all
    do i = 1, 100
      lock(lock(2)[1])
      before = sum[1]           ! in an expression gfortran 15 takes its own
      sum[1] = before + 1
      unlock(lock(2)[1])
      critical
        before = count[1]
        count[1] = before + 1
      end critical
    end do
    sync all
    call check(sum[1] == 100 * num_images(), 'a lock')
    call check(count[1] == 100 * num_images(), 'a critical construct')
    lock(lock(1))
    lock(lock(1), stat=stat)
    call check(stat == stat_locked, 'it has it')
    lock(lock(1), acquired_lock=mine)
    call check(.not. mine, 'it does not get it twice')
    unlock(lock(1))
    if (this_image() == 1) lock(lock(1))
    sync all
    if (this_image() > 1) then
      unlock(lock(1)[1], stat=stat)
      call check(stat == stat_locked_other_image, 'another one has it')
    end if
    sync all
  end subroutine

  subroutine events()
    type(event_type), save :: done[*], list(2)[*]
    integer :: i, count

    if (this_image() > 1) event post(done[1])
    if (this_image() == 1 .and. num_images() > 1) &
      event wait(done, until_count=num_images() - 1)
    call event_query(done, count)
    call check(count == 0, 'an event')
    do i = 1, 3
      event post(list(2)[next()])
    end do
    event wait(list(2), until_count=3)
  end subroutine

  subroutine atoms()
    integer(atomic_int_kind), save :: a[*], b[*]
    integer :: old

    call atomic_define(a, 0)
    call atomic_define(b, 0)
    sync all
    call atomic_add(a[1], this_image())
    call atomic_or(b[1], ishft(1, this_image()))
    sync all
    call atomic_ref(old, a[1])
    call check(old == num_images() * (num_images() + 1) / 2, 'atomic_add')
    call atomic_ref(old, b[1])
    call check(popcnt(old) == num_images(), 'atomic_or')
    sync all
    call atomic_cas(a[1], old, num_images() * (num_images() + 1) / 2, -1)
    sync all
    call check(a[1] == -1, 'atomic_cas')
  end subroutine

  subroutine collectives()
    real(8) :: d(3)
    integer :: i, n(10), ones(2, 2)
    character(len=3) :: text

    i = this_image()
    call co_sum(i)
    call check(i == num_images() * (num_images() + 1) / 2, 'co_sum')
    d = this_image() * [1, -1, 2]
    call co_max(d, result_image=1)
    if (this_image() == 1) &
      call check(all(d == num_images() * [1, 0, 2] - [0, 1, 0]), 'co_max')
    if (this_image() > 1) &
      call check(all(d == this_image() * [1, -1, 2]), 'not its result')
    text = achar(iachar('a') + this_image())
    call co_min(text)
    call check(text == 'b', 'co_min of texts')
    n = this_image()
    call co_sum(n(1:10:3))
    call check(all(n(1:10:3) == num_images() * (num_images() + 1) / 2), &
               'co_sum with a stride')
    call check(all(n(2:9:3) == this_image()), 'but not beside it')
    ones = this_image()
    call co_broadcast(ones, source_image=num_images())
    call check(all(ones == num_images()), 'co_broadcast')
    i = this_image()
    call co_reduce(i, times)
    call check(i == product([(i, i = 1, num_images())]), 'co_reduce')
  end subroutine

  pure integer function times(a, b)
    integer, intent(in) :: a, b

    times = a * b
  end function

  subroutine teams()
    type(team_type) :: half
    integer, allocatable :: part(:)[:]
    integer, save :: x[*]
    integer :: me, n, sum

    me = this_image()
    n = num_images()
    x = me
    sync all
    form team(mod(me, 2) + 1, half)
    change team(half)
      call check(team_number() == mod(me, 2) + 1, 'the number of a team')
      call check(this_image() == (me + 1) / 2, 'the number in a team')
      call check(num_images() == (n + mod(me, 2)) / 2, 'how many there are')
      call check(x[1] == merge(1, 2, mod(me, 2) == 1), 'its first image')
      sum = me
      call co_sum(sum)
      allocate(part(3)[*])
      part = me
      sync team(half)
      call check(part(2)[num_images()] == me + 2 * (num_images() - this_image()), &
                 'a coarray of a team')
    end team
    call check(.not. allocated(part), 'is gone at its end')
    call check(this_image() == me .and. num_images() == n, 'after it')
    call co_sum(sum)
  end subroutine
end module

program constructs
  use arrays
  use components
  use others
  implicit none

  call sections()
  call kinds()
  call parts()
  call locks()
  call events()
  call atoms()
  call collectives()
  call teams()
  call random_init(.true., .true.)
  call co_sum(wrong)
  if (this_image() == 1 .and. wrong == 0) &
    print '(i0, a)', num_images(), ' images, all right'
end program

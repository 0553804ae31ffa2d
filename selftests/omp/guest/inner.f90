! SPDX-License-Identifier: GPL-2.0
! An internal procedure as an argument: gfortran puts code on the stack for it.
! inner MEMBERS
program inner
  implicit none
  integer :: members, factor, total
  character(len=8) :: word

  call get_command_argument(1, word)
  read (word, *) members
  factor = 5
  total = 0
  call apply(add)
  !$omp parallel
  call apply(add)
  !$omp end parallel
  if (total /= 5 * (members + 1)) error stop "WRONG: the sum"
  print '(i0, a)', members, " members, all right"
contains
  subroutine add()
    !$omp atomic
    total = total + factor
  end subroutine
  subroutine apply(f)
    interface
      subroutine f()
      end subroutine
    end interface

    call f()
  end subroutine
end program

! SPDX-License-Identifier: GPL-2.0
! Coarrays beside a threadprivate block of 1 MiB, as hybrid programs have.
program own_data
  implicit none
  real(8) :: x(131072)
  integer :: total[*]
  common /store/ x
  !$omp threadprivate(/store/)

  x = 1
  total = int(sum(x))
  sync all
  if (this_image() == 1) print '(i0, a)', total[num_images()], " by the last"
end program

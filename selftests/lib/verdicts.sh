# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Slow checks of single files: what has passed once, under the same rules, is
# not looked at again.  Kept in the cache, by content.

# verdicts NAME RULES [FILES]: from now on those of this check under these rules,
# a text that is another one when the check, or a tool of it, is; of all at once
# that the command FILES names, NUL between them, where each may include any other
verdicts()
{
	local rules=$2

	[ -z "$3" ] || rules="$2 $("$3" | sums)"
	verdicts=${MIOS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mios}/verdicts
	mkdir -p "$verdicts"
	verdicts=$verdicts/$1-$(echo "$rules" | sha256sum | cut -c 1-16)
	touch "$verdicts"
	find "${verdicts%/*}" -type f -mtime +30 -delete
}

# sums: of the files named on stdin, NUL between them; under $top, wherever it is
sums()
{
	xargs -r -0 sha256sum | sed "s,  $top/,  ," | sort
}

# seen: all at once have passed
seen()
{
	[ -s "$verdicts" ]
}

# unseen: those of the files named on stdin that have not passed yet
unseen()
{
	sums | comm -23 - "$verdicts" | sed "s,^[^ ]*  ,$top/," | tr '\n' '\0'
}

# passed: all files named on stdin
passed()
{
	sums | sort -u - "$verdicts" > "$verdicts.$$" &&
		mv "$verdicts.$$" "$verdicts"
}

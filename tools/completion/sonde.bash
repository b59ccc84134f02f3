# Completion of sonde(1) in bash. Options come from the command's own help, so that they cannot go stale.
_sonde()
{
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}

	if [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W '@SONDE_COMMANDS@ --help --version' -- "$word"))
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" "$command" --help 2> /dev/null | grep -o -E -e '--[a-z][a-z-]+')" -- "$word"))
	fi
}
complete -o default -F _sonde sonde

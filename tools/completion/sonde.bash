# Completion of sonde(1) in bash. Options come from the command itself, so that they cannot go stale.
_sonde()
{
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} commands='@SONDE_COMMANDS@'

	if [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$word"))
	elif [ "$command" = help ]; then
		COMPREPLY=($(compgen -W "$commands" -- "$word"))
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" help --options "$command" 2> /dev/null)" -- "$word"))
	fi
}
complete -o default -F _sonde sonde

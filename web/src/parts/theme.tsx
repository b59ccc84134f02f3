// As the system has it, light, dark.
import { theme } from '../state/app';

const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const;

export function ThemeButton() {
	return (
		<button
			class="plain"
			title={`Theme: ${theme.value}`}
			aria-label={`Theme: ${theme.value}. Change it.`}
			onClick={() => {
				theme.value = NEXT[theme.value];
			}}
		>
			{{ system: '◐', light: '○', dark: '●' }[theme.value]}
		</button>
	);
}

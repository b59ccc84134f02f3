import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/timeline.css';
import './style/flame.css';
import { App } from './parts/app';
import { loadSessions } from './state/app';
import { listen } from './state/events';

render(<App />, document.getElementById('app')!);
void loadSessions().then(listen);

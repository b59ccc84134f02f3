// The page as a file to mail: the same views, with their data inside.
import { render } from 'preact';
import '../style/tokens.css';
import '../style/base.css';
import '../style/shell.css';
import '../style/parts.css';
import '../style/timeline.css';
import '../style/flame.css';
import './file.css';
import { App } from '../parts/app';
import { setSource } from '../state/api';
import { go, loadSessions, params } from '../state/app';
import { VIEWS } from '../views/list';
import { localSource, type FileData } from './source';

const data = JSON.parse(document.getElementById('data')!.textContent!) as FileData;
setSource(localSource(data));
if (!params.value['v']) go({ v: VIEWS[0]!.id, ...(data.flame ? { by: data.flame.by } : {}) });
// Of chosen steps the page begins with these.
const span = data.counters,
	whole = data.answers['/sessions/1'] as { duration_ns: number };
if (span && params.value['from'] === undefined && (span.from > 0 || span.to < whole.duration_ns))
	go({ from: String(span.from), to: String(span.to) });
document.getElementById('note')!.textContent = data.note;
render(<App />, document.getElementById('app')!);
void loadSessions();

// prints: workspace
import * as workspace from '@orion/workspace';

console.log(typeof workspace.createWorkspace === 'function' ? 'workspace' : 'nothing');

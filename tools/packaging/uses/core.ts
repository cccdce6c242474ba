// prints: function function
import { advance, createWritePlanTool } from '@orion/core';

console.log(typeof advance, typeof createWritePlanTool);

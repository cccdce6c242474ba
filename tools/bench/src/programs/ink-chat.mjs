// What a conversation costs that is drawn by ink and react: finished lines above, what is typed below.
import { Box, render, Static, Text, useApp, useInput } from 'ink';
import { createElement, useEffect, useState } from 'react';

const LINES = Number(process.argv[2]);
const INTERVAL_MS = Number(process.argv[3]);

function Conversation() {
  const [lines, setLines] = useState([]);
  const [typed, setTyped] = useState('');
  const [isRunning, setRunning] = useState(false);
  const { exit } = useApp();
  useInput((input, key) => {
    if (key.return) setRunning(true);
    else if (key.ctrl && input === 'd') exit();
    else setTyped((before) => before + input);
  });
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => {
      setLines((before) =>
        before.length < LINES ? [...before, `- line ${before.length} of the answer`] : before,
      );
    }, INTERVAL_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return createElement(
    Box,
    { flexDirection: 'column' },
    createElement(Static, { items: lines }, (line) => createElement(Text, { key: line }, line)),
    createElement(Text, null, '─'.repeat(80)),
    createElement(Text, null, `> ${typed}`),
    createElement(Text, null, '─'.repeat(80)),
    createElement(Text, null, `status · ${lines.length} lines`),
  );
}

render(createElement(Conversation));

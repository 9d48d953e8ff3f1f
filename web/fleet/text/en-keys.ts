/** The texts of the owners' legend, the palette, the keys and the wall: a part of `en`. */
export const keysEn = {
  owners: {
    title: 'Owners',
    unknown: '“Tonight”, “Later” and “Not this version” stay on the devices: such nodes count as asked.',
    steps: {
      asked: (count: number) => `${count} asked`,
      decided: (count: number) => `${count} decided now`,
      running: (count: number) => `${count} running`,
      done: (count: number) => `${count} done`,
      failed: (count: number) => `${count} failed`,
    },
  },

  palette: {
    title: 'Find a rollout, node or site',
    open: 'Find rollout, node, site…',
    hint: 'Rollout, node, site or command',
    found: 'What was found',
    kinds: { command: 'command', page: 'page', rollout: 'rollout', node: 'node', label: 'label' },
    overview: 'All rollouts',
    wall: 'Show on a wall',
    count: (shown: number, all: number) =>
      all === 0 ? 'No matches.' : shown === all ? `${all} found` : `${shown} of ${all}: type more`,
  },

  keys: {
    title: 'Keys',
    letters: 'Use single-key shortcuts',
    close: 'Close',
    list: [
      { keys: ['Ctrl K', '/'], what: 'find a rollout, node, label or command' },
      { keys: ['j', 'k'], what: 'next or previous rollout, or node' },
      { keys: ['Enter'], what: 'open it' },
      { keys: ['f'], what: 'next failed node' },
      { keys: ['g o'], what: 'go to the overview' },
      { keys: ['Escape'], what: 'close what is open, or leave the wall' },
      { keys: ['?'], what: 'show this list' },
    ],
  },

  wall: {
    held: 'Rotation is paused for a minute.',
    leave: 'Leave the wall',
  },
};

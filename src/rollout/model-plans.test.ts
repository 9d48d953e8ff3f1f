import { describe, it } from 'node:test';
import { type Happening, type Plan, play } from './testing/scenario.ts';

/** Plans on which the core, or the model itself, once failed: each is as small as its story allows. */
const plan = (seed: number, happenings: readonly Happening[], change: Partial<Plan>): Plan => ({
  seed,
  nodes: 6,
  zones: 0,
  budget: 2,
  minReadyMs: 0,
  onFailure: 'halt',
  happenings,
  ...change,
});

const version = (
  at: number,
  behaviour: Extract<Happening, { kind: 'version' }>['behaviour'],
  share = 1,
): Happening => ({ at, pick: 0, kind: 'version', behaviour, share });

type Plain =
  | 'comeBack'
  | 'upset'
  | 'storm'
  | 'crash'
  | 'resume'
  | 'secondLeader'
  | 'connect'
  | 'disconnect'
  | 'deleteByHand';
const plain = (at: number, kind: Plain, pick: number): Happening => ({ at, pick, kind });

describe('a plan of the model that once failed holds', () => {
  for (const [story, each] of [
    [
      'a leader takes over a surge whose new pod its watch has not shown, and the target changes: the slot stays taken',
      plan(
        1_632_382_416,
        [
          plain(81_383, 'storm', 594),
          version(104_397, 'good'),
          plain(114_244, 'secondLeader', 346),
          version(157_389, 'pull'),
        ],
        { budget: 1, surge: true },
      ),
    ],
    [
      'the same among more nodes, one of them offline',
      plan(
        1_545_670_261,
        [
          plain(35_142, 'disconnect', 75),
          plain(63_002, 'storm', 836),
          version(100_079, 'good'),
          plain(172_222, 'resume', 343),
          plain(194_503, 'secondLeader', 1),
          version(218_833, 'pull'),
        ],
        { nodes: 12, minReadyMs: 10_000, surge: true },
      ),
    ],
    [
      'its user deletes a new pod just before it is available, which no watch has told yet when the next node surges',
      plan(
        911_601_456,
        [
          { at: 22_023, pick: 713, kind: 'budget', value: 10, percent: true },
          { at: 22_469, pick: 978, kind: 'partition', value: 3 },
          version(27_494, 'good'),
          version(60_354, 'kill', 0.3),
          plain(98_345, 'resume', 254),
          { at: 106_431, pick: 285, kind: 'partition', value: 0 },
          plain(107_130, 'storm', 281),
          plain(160_088, 'deleteByHand', 328),
        ],
        { nodes: 3, budget: 1, minReadyMs: 10_000, surge: true },
      ),
    ],
    [
      'a suspect whose pod its user had deleted comes back broken, and is repaired in the slot that it holds as a suspect',
      plan(
        1_204_602_608,
        [
          version(17_220, 'hang', 0.3),
          version(127_099, 'kill'),
          plain(131_819, 'deleteByHand', 3),
          plain(173_290, 'secondLeader', 598),
          plain(181_085, 'crash', 690),
          version(205_799, 'hang'),
          plain(290_035, 'connect', 0),
          plain(290_348, 'connect', 3),
          plain(290_680, 'connect', 4),
          plain(292_405, 'connect', 1),
          version(300_000, 'good'),
        ],
        { nodes: 7, zones: 3, budget: 1, minReadyMs: 10_000 },
      ),
    ],
    [
      'a change in place stops after its first write, is taken back, and its pod is out of service in its slot',
      plan(
        1_818_592_180,
        [
          plain(6, 'crash', 975),
          plain(11, 'deleteByHand', 101),
          plain(82_466, 'storm', 670),
          plain(110_954, 'disconnect', 240),
          version(111_726, 'hang'),
          version(113_912, 'stick'),
          { at: 121_577, pick: 243, kind: 'budget', value: 2, percent: false },
        ],
        { nodes: 9, inPlace: true },
      ),
    ],
    [
      'another leader fences a change in place after its first write: the slot is held until the pod is available again',
      plan(
        1_730_476_754,
        [
          plain(9_888, 'comeBack', 224),
          plain(42_306, 'disconnect', 843),
          plain(48_103, 'disconnect', 236),
          plain(82_193, 'secondLeader', 979),
          plain(101_031, 'connect', 281),
          version(111_357, 'hang'),
        ],
        { nodes: 5, budget: 1, minReadyMs: 10_000, inPlace: true },
      ),
    ],
    [
      'an act whose answer was lost waits for its next try, and no repair of another node takes its place meanwhile',
      plan(
        1_848_105_035,
        [
          plain(1_921, 'storm', 639),
          version(15_390, 'good'),
          version(42_863, 'stick'),
          version(67_266, 'hang'),
          { at: 87_240, pick: 540, kind: 'budget', value: 3, percent: false },
          { at: 147_808, pick: 810, kind: 'budget', value: 10, percent: true },
          plain(153_199, 'crash', 589),
          version(223_083, 'good', 0.3),
        ],
        { nodes: 7, budget: 4, inPlace: true },
      ),
    ],
    [
      'a leader is told of a change in place that its watch has not shown, and repairs that pod in its own slot',
      plan(
        524_095_648,
        [
          version(4, 'stick', 0.3),
          plain(47_990, 'storm', 998),
          plain(80_138, 'upset', 337),
          version(89_781, 'good', 0.3),
          plain(158_820, 'secondLeader', 62),
          version(170_304, 'stick', 0.3),
          plain(174_933, 'resume', 383),
        ],
        { nodes: 13, minReadyMs: 10_000, inPlace: true },
      ),
    ],
    [
      'a leader that slept while pods went to another version in place and back reserves what it may not write',
      plan(
        713_426_879,
        [
          version(13, 'stick'),
          plain(207_205, 'secondLeader', 38),
          version(212_229, 'pull'),
          version(240_000, 'good', 0.3),
        ],
        { nodes: 8, onFailure: 'rollback', inPlace: true },
      ),
    ],
    [
      'a pod of a version that no watch has told of comes where one was deleted, and works: no slot is held for it',
      plan(
        27,
        [
          plain(7_721, 'disconnect', 481),
          { ...version(34_308, 'good', 0.3), pick: 778 },
          plain(100_573, 'storm', 372),
          { ...version(106_043, 'hang'), pick: 7 },
          { ...version(129_438, 'good'), pick: 182 },
          { ...version(239_538, 'good', 0.3), pick: 491 },
        ],
        { nodes: 14, inPlace: true },
      ),
    ],
    [
      'nodes that a version killed last are no failures of the one that follows it',
      plan(235_627_294, [plain(148_578, 'storm', 993), version(189_132, 'kill')], { nodes: 12, zones: 3, budget: 4 }),
    ],
  ] as const)
    it(`${story} (seed ${each.seed})`, () => void play(each));
});

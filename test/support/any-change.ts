import fc from 'fast-check'
import type { TestFile } from './fast-import.ts'

/** The files of a commit by path. */
export type Tree = ReadonlyMap<
  string,
  { readonly mode: '100644' | '100755' | '120000'; readonly data: string }
>

/** One step of what a person does to the files of a branch. */
type Step = (files: Map<string, { mode: '100644' | '100755' | '120000'; data: string }>) => void

const lines = (name: string) => Array.from({ length: 20 }, (_, at) => `${name} line ${at}`)
const text = (all: readonly string[]) => `${all.join('\n')}\n`

/** What every branch starts from: texts that are alike and not, folders in folders, other kinds of files. */
export const startTree: Tree = new Map(
  Object.entries({
    'one.txt': text(lines('one')),
    'two.txt': text(lines('two')),
    'a/three.txt': text(lines('three')),
    'a/four.txt': text(lines('four')),
    'a/b/five.txt': text(lines('five')),
    'a/b/six.txt': text(lines('six')),
    'c/seven.txt': text(lines('seven')),
    'c/small': 'small\n',
    'c/bytes': '\0binary\n',
  }).map(([path, data]) => [path, { mode: '100644' as const, data }]),
)

const known = [...startTree.keys()]
/** Places where files come to be: some are files or folders of the start. */
const places = [
  ...known,
  'new.txt',
  'a/new.txt',
  'a/b/new.txt',
  'c/new.txt',
  'd/new.txt',
  'a',
  'c/small/x',
]
const folders = ['a', 'a/b', 'c']

/** Puts a file somewhere, where whatever is in its way must go. */
function place(
  files: Parameters<Step>[0],
  path: string,
  file: { mode: '100644' | '100755' | '120000'; data: string },
): void {
  for (const other of [...files.keys()]) {
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other)
  }
  files.set(path, file)
}

const anyPlace = fc.constantFrom(...places)
const anyFile = fc.constantFrom(...known)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(anyFile, fc.constantFrom(0, 5, 6, 12, 19), fc.constantFrom('X', 'Y'))
      .map(edit),
  },
  { weight: 3, arbitrary: fc.tuple(anyFile, anyPlace).map(move) },
  { weight: 2, arbitrary: anyFile.map(remove) },
  { weight: 1, arbitrary: fc.constantFrom(...folders).map(remove) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...folders), fc.constantFrom('moved', 'd', 'a/e', 'c'))
      .map(moveFolder),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(anyPlace, fc.constantFrom('new\n', 'other\n', text(lines('one')))).map(add),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(anyFile, fc.constantFrom('100755' as const, '120000' as const))
      .map(setMode),
  },
  { weight: 1, arbitrary: anyFile.map(changeLineEnds) },
  { weight: 1, arbitrary: anyFile.map(repeatLines) },
)

function edit([path, at, what]: [string, number, string]): Step {
  return (files) => {
    const file = files.get(path)
    if (!file) return
    const all = file.data.split('\n')
    all[Math.min(at, all.length - 1)] = `${what} ${at}`
    files.set(path, { ...file, data: all.join('\n') })
  }
}

function changeLineEnds(path: string): Step {
  return (files) => {
    const file = files.get(path)
    if (file) files.set(path, { ...file, data: file.data.replaceAll(/\r?\n/g, '\r\n') })
  }
}

/** A block that stands twice: line diffs may line it up in more than one way. */
function repeatLines(path: string): Step {
  return (files) => {
    const file = files.get(path)
    if (!file) return
    const all = file.data.split('\n')
    files.set(path, { ...file, data: [...all.slice(0, 8), ...all.slice(3)].join('\n') })
  }
}

function move([from, to]: [string, string]): Step {
  return (files) => {
    const file = files.get(from)
    if (!file || from === to) return
    files.delete(from)
    place(files, to, file)
  }
}

function remove(path: string): Step {
  return (files) => {
    for (const other of [...files.keys()]) {
      if (other === path || other.startsWith(`${path}/`)) files.delete(other)
    }
  }
}

function moveFolder([from, to]: [string, string]): Step {
  return (files) => {
    for (const [path, file] of [...files]) {
      if (!path.startsWith(`${from}/`)) continue
      files.delete(path)
      place(files, to + path.slice(from.length), file)
    }
  }
}

function add([path, data]: [string, string]): Step {
  return (files) => place(files, path, { mode: '100644', data })
}

function setMode([path, mode]: [string, '100755' | '120000']): Step {
  return (files) => {
    const file = files.get(path)
    if (file) files.set(path, { ...file, mode, data: mode === '120000' ? 'target' : file.data })
  }
}

/** Some steps of one branch: edits, moves of files and folders, deletions, kinds and modes of files. */
export const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(step, {
  minLength: 1,
  maxLength: 4,
})

export function after(tree: Tree, steps: readonly Step[]): Tree {
  const files = new Map(tree)
  for (const act of steps) act(files)
  return files
}

/** What makes one tree of another, for `commitFiles`. */
export function difference(from: Tree, to: Tree): Record<string, TestFile> {
  const gone = [...from.keys()].filter((path) => !to.has(path)).map((path) => [path, null] as const)
  return Object.fromEntries([...gone, ...to])
}

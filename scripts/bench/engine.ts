import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { askJson, askWhole, type Project } from './api.ts'
import { compare, git, type Row } from './measure.ts'

/** A question put to both sides; the round varies it where a first answer is to be measured. */
interface Question {
  readonly what: string
  /** Path and query below the project, or what is done there. */
  readonly ours: (round: number) => string
  readonly theirs: (round: number) => readonly string[]
  readonly limit: number
  readonly rounds?: number
}

/** What the questions are about, chosen from the repository itself. */
interface Subjects {
  readonly head: string
  readonly blob: string
  /** Files and folders from all over the tree. */
  readonly paths: readonly string[]
  /** Commits of the first-parent line, newest first. */
  readonly line: readonly string[]
  readonly years: readonly string[]
  readonly file: string
}

const rounds = 7

/** The REST API of repositories against the git program doing the same work. */
export async function* benchEngine(project: Project): AsyncGenerator<Row> {
  const subjects = await choose(project.stored)
  for (const question of [...trees(subjects), ...lists(subjects), ...relations(subjects)]) {
    yield await ask(project, question)
  }
  yield* pathRows(project, subjects)
  yield* archiveRows(project, subjects)
  yield* writeRows(project)
}

function ask(project: Project, question: Question): Promise<Row> {
  return compare(
    question.what,
    question.rounds ?? rounds,
    (round) => askWhole(project, question.ours(round)),
    (round) => git(project.stored, question.theirs(round)),
    question.limit,
  )
}

async function choose(stored: string): Promise<Subjects> {
  const lines = async (...args: string[]) => (await git(stored, args)).split('\n').filter(Boolean)
  const files = await lines('ls-tree', '-r', '--name-only', 'HEAD')
  const folders = await lines('ls-tree', '-r', '-d', '--name-only', 'HEAD')
  const spread = (from: readonly string[], count: number) =>
    Array.from({ length: count }, (_, i) => from[Math.floor((i * from.length) / count)] ?? '')
  const file = files.find((name) => /\.(?:c|ts|md|txt)$/.test(name)) ?? files[0] ?? ''
  const dates = await lines('log', '--first-parent', '--format=%cI')
  return {
    head: (await lines('rev-parse', 'HEAD'))[0] ?? '',
    blob: (await lines('rev-parse', `HEAD:${file}`))[0] ?? '',
    paths: [...spread(files, 12), ...spread(folders, 3)].filter(Boolean),
    line: await lines('rev-list', '--first-parent', 'HEAD'),
    years: spread(dates, 16),
    file,
  }
}

function trees({ head, blob, file }: Subjects): Question[] {
  const name = encodeURIComponent(file)
  return [
    {
      what: 'root tree',
      ours: () => 'tree?per_page=100',
      theirs: () => ['ls-tree', 'HEAD'],
      limit: 0.3,
    },
    {
      what: 'recursive tree',
      ours: () => 'tree?recursive=true&pagination=none',
      theirs: () => ['ls-tree', '-r', '-t', 'HEAD'],
      limit: 1,
    },
    {
      what: 'small blob',
      ours: () => `blobs/${blob}`,
      theirs: () => ['cat-file', 'blob', blob],
      limit: 0.3,
    },
    {
      what: 'raw blob',
      ours: () => `blobs/${blob}/raw`,
      theirs: () => ['cat-file', 'blob', blob],
      limit: 0.3,
    },
    {
      what: 'file',
      ours: () => `files/${name}?ref=HEAD`,
      theirs: () => ['log', '-1', '--', file],
      limit: 0.3,
    },
    {
      what: 'single commit',
      ours: () => `commits/${head}`,
      theirs: () => ['show', '--shortstat', head],
      limit: 0.3,
    },
    {
      what: 'blame',
      ours: () => `files/${name}/blame?ref=HEAD`,
      theirs: () => ['blame', '--porcelain', 'HEAD', '--', file],
      limit: 1.2,
    },
    {
      what: 'branches',
      ours: () => 'branches?per_page=100',
      theirs: () => ['for-each-ref', 'refs/heads'],
      limit: 0.4,
    },
    {
      what: 'tags',
      ours: () => 'tags?per_page=100',
      theirs: () => ['for-each-ref', '--sort=-creatordate', 'refs/tags'],
      limit: 0.4,
    },
  ]
}

const raw = '--format=raw'

function lists({ years, line }: Subjects): Question[] {
  const tip = (round: number) => line[round * 3] ?? 'HEAD'
  const span = (round: number) => ({ since: years[round + 1] ?? '', until: years[round] ?? '' })
  const parts = (values: Record<string, string>) => new URLSearchParams(values).toString()
  return [
    {
      what: 'first 20 commits',
      ours: () => 'commits',
      theirs: () => ['log', '-20', raw],
      limit: 0.3,
    },
    {
      what: 'first 100 commits',
      ours: () => 'commits?per_page=100',
      theirs: () => ['log', '-100', raw],
      limit: 0.3,
    },
    {
      what: 'page 500',
      ours: () => 'commits?page=500',
      theirs: () => ['log', '--skip=9980', '-20', raw],
      limit: 0.5,
    },
    {
      what: 'first parents',
      ours: () => 'commits?first_parent=true&per_page=100',
      theirs: () => ['log', '--first-parent', '-100', raw],
      limit: 0.25,
    },
    {
      what: 'topological order',
      ours: (n) => `commits?order=topo&ref_name=${tip(n)}`,
      theirs: (n) => ['log', '--topo-order', '-20', raw, tip(n)],
      limit: 1.5,
    },
    {
      what: 'since and until',
      ours: (n) => `commits?${parts(span(n))}`,
      theirs: (n) => ['log', `--since=${span(n).since}`, `--until=${span(n).until}`, '-20', raw],
      limit: 1,
    },
    {
      what: 'one author',
      ours: () => 'commits?author=Nobody%20at%20all',
      theirs: () => ['log', '--author=Nobody at all', '-20', raw],
      limit: 2,
      rounds: 3,
    },
    {
      what: '100 with stats, first time',
      ours: (n) => `commits?with_stats=true&per_page=100&ref_name=${line[n * 200] ?? 'HEAD'}`,
      theirs: (n) => [
        'log',
        '-100',
        '--shortstat',
        '-m',
        '--first-parent',
        line[n * 200] ?? 'HEAD',
      ],
      limit: 1.2,
      rounds: 3,
    },
    {
      what: '100 with stats, again',
      ours: () => 'commits?with_stats=true&per_page=100',
      theirs: () => ['log', '-100', '--shortstat'],
      limit: 0.25,
    },
    {
      what: 'contributors, again',
      ours: () => 'contributors',
      theirs: () => ['log', '--no-merges', '-2000', '--format=%an %ae'],
      limit: 1,
    },
  ]
}

function relations({ line }: Subjects): Question[] {
  const old = (round: number) => line[Math.floor((line.length * (round + 1)) / 20)] ?? 'HEAD'
  const near = line[Math.min(2000, line.length - 1)] ?? 'HEAD'
  return [
    {
      what: 'merge base',
      ours: (n) => `merge_base?refs[]=HEAD&refs[]=${old(n)}`,
      theirs: (n) => ['merge-base', 'HEAD', old(n)],
      limit: 0.65,
    },
    {
      what: 'refs of a commit',
      ours: (n) => `commits/${old(n)}/refs?per_page=100`,
      theirs: (n) => ['for-each-ref', `--contains=${old(n)}`],
      limit: 0.4,
    },
    {
      what: 'sequence',
      ours: (n) => `commits/${old(n)}/sequence`,
      theirs: (n) => ['rev-list', '--count', old(n)],
      limit: 0.65,
    },
    {
      what: 'compare',
      ours: () => `compare?from=${near}&to=HEAD`,
      theirs: () => ['diff', '-M', '-p', `${near}...HEAD`],
      limit: 0.95,
      rounds: 3,
    },
  ]
}

/** Each path is asked once, so that no answer is remembered; the lists must be git's. */
async function* pathRows(project: Project, { paths }: Subjects): AsyncGenerator<Row> {
  const asked = (path: string) => `commits?path=${encodeURIComponent(path)}`
  const theirs = (path: string) => ['log', '-20', '--format=%H', '--', path]
  let differing = 0
  for (const path of paths) {
    const ours = (await askJson(project, asked(path))) as { id: string }[] // the wire's commits
    const ids = ours.map((commit) => commit.id).join('\n')
    if (ids !== (await git(project.stored, theirs(path)))) differing += 1
  }
  yield {
    what: 'paths whose list is not git’s',
    ours: String(differing),
    theirs: '0',
    value: differing,
    unit: 'count',
    limit: 0,
  }
  // A tip that was not asked before makes the walk start anew.
  yield await compare(
    'commits of one path',
    paths.length - 1,
    (n) => askWhole(project, `${asked(paths[n] ?? '')}&ref_name=HEAD~1`),
    (n) => git(project.stored, ['log', '-20', '--format=%H', 'HEAD~1', '--', paths[n] ?? '']),
    0.8,
  )
}

async function* archiveRows(project: Project, { line }: Subjects): AsyncGenerator<Row> {
  const formats: readonly (readonly [string, number])[] = [
    ['tar', 1.2],
    ['tar.gz', 0.6],
    ['zip', 1.3],
  ]
  for (const [format, limit] of formats) {
    yield await compare(
      `archive ${format}`,
      3,
      (n) => askWhole(project, `archive.${format}?sha=${line[n] ?? 'HEAD'}`),
      (n) =>
        git(project.stored, [
          'archive',
          `--format=${format}`,
          '--output=/dev/null',
          line[n] ?? 'HEAD',
        ]),
      limit,
    )
  }
}

/** Commits of many files through the API against git's plumbing on an index of its own. */
async function* writeRows(project: Project): AsyncGenerator<Row> {
  const scratch = join(project.folder, 'write')
  await mkdir(scratch, { recursive: true })
  for (const [count, limit] of [
    [1, 0.3],
    [100, 0.6],
    [1000, 1.2],
  ] as const) {
    yield await compare(
      `commit of ${count} changes`,
      count > 100 ? 3 : rounds,
      (n) => commitByApi(project, `bench-${count}-${n}`, count),
      (n) => commitByGit(project.stored, scratch, n, count),
      limit,
    )
  }
  await rm(scratch, { recursive: true })
}

async function commitByApi(project: Project, branch: string, count: number): Promise<void> {
  const actions = Array.from({ length: count }, (_, i) => ({
    action: 'create',
    file_path: `${branch}/${i % 20}/file-${i}.txt`,
    content: `content ${i}\n`,
  }))
  const body = { branch, start_branch: project.branch, commit_message: 'Many files', actions }
  await askWhole(project, 'commits', body)
}

async function commitByGit(
  stored: string,
  scratch: string,
  round: number,
  count: number,
): Promise<void> {
  const index = { GIT_INDEX_FILE: join(scratch, `index-${round}`) }
  await git(stored, ['read-tree', 'HEAD'], undefined, index)
  const files = Array.from({ length: count }, (_, i) => join(scratch, `file-${i}`))
  await Promise.all(files.map((file, i) => writeFile(file, `content ${round} ${i}\n`)))
  const paths = `${files.join('\n')}\n`
  const ids = (await git(stored, ['hash-object', '-w', '--stdin-paths'], paths)).split('\n')
  const lines = ids.map((id, i) => `100644 ${id}\tbench-${round}/${i % 20}/file-${i}.txt`)
  await git(stored, ['update-index', '--index-info'], `${lines.join('\n')}\n`, index)
  const tree = await git(stored, ['write-tree'], undefined, index)
  const commit = await git(stored, ['commit-tree', '-p', 'HEAD', '-m', 'Many files', tree])
  await git(stored, ['update-ref', `refs/heads/git-${count}-${round}`, commit])
}

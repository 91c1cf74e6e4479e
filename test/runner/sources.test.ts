import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { getSources } from '../../src/runner/sources.ts'
import { Variables } from '../../src/runner/variables.ts'
import { jobOf } from './fake-server.ts'

let folder: string
let commands: string[]
let said: string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
})
beforeEach(async () => {
  commands = []
  said = []
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Given {
  readonly variables?: Readonly<Record<string, string>>
  readonly fetches?: boolean
  /** The exit code of a command. */
  readonly code?: (command: string) => number
  readonly wasAway?: () => boolean
  readonly signal?: AbortSignal
}

/** Gets sources with a git that only writes down what it was asked. */
async function got({ variables = {}, fetches = true, code, wasAway, signal }: Given = {}) {
  const job = {
    ...jobOf([]),
    allow_git_fetch: fetches,
    git_info: {
      repo_url: 'http://user:token@host/a/p.git',
      ref: 'main',
      sha: 'c0ffee',
      refspecs: ['+refs/pipelines/1:refs/pipelines/1', '+refs/heads/main:refs/remotes/origin/main'],
      depth: 20,
    },
  }
  const all = Object.entries(variables).map(([key, value]) => ({ key, value }))
  await getSources(job, new Variables(all, (key) => key), folder, {
    git: async (args, cwd) => {
      expect(cwd).toBe(folder)
      const command = args.join(' ')
      commands.push(command)
      return code?.(command) ?? 0
    },
    awaitServer: async () => wasAway?.() ?? false,
    signal: signal ?? new AbortController().signal,
    say: (line) => said.push(line),
  })
  return commands
}

const fetchOf = (flags: string) =>
  `fetch --no-recurse-submodules ${flags} --end-of-options origin +refs/pipelines/1:refs/pipelines/1 +refs/heads/main:refs/remotes/origin/main`

const usual = [
  'init --quiet --template=',
  'config remote.origin.url http://user:token@host/a/p.git',
  fetchOf('--depth 20 --prune --quiet'),
  'checkout --force --quiet --detach c0ffee',
  'clean --quiet -ffdx',
  'lfs version',
  'lfs pull',
]

describe('the sources of a job', () => {
  test('are fetched, checked out and cleaned', async () => {
    expect(await got()).toEqual(usual)
  })

  test.each<[string, Record<string, string>, (commands: string[]) => string[]]>([
    ['all of the history', { GIT_DEPTH: '0' }, (list) => list.with(2, fetchOf('--prune --quiet'))],
    [
      'as deep as it says',
      { GIT_DEPTH: '3' },
      (list) => list.with(2, fetchOf('--depth 3 --prune --quiet')),
    ],
    [
      'with flags of its own',
      { GIT_FETCH_EXTRA_FLAGS: '--tags  --force' },
      (list) => list.with(2, fetchOf('--depth 20 --tags --force')),
    ],
    [
      'cleaned as it says',
      { GIT_CLEAN_FLAGS: '-ffd -e cache' },
      (list) => list.with(4, 'clean --quiet -ffd -e cache'),
    ],
    ['and not cleaned', { GIT_CLEAN_FLAGS: 'none' }, (list) => list.toSpliced(4, 1)],
    ['and not checked out', { GIT_CHECKOUT: 'false' }, (list) => list.slice(0, 3)],
    ['without large files', { GIT_LFS_SKIP_SMUDGE: '1' }, (list) => list.slice(0, 5)],
    [
      'with submodules',
      { GIT_SUBMODULE_STRATEGY: 'normal' },
      (list) => [
        ...list,
        'submodule init',
        'submodule sync',
        'submodule update --init --force --depth 20 --',
      ],
    ],
    [
      'with submodules in submodules, those of some paths, and another depth',
      {
        GIT_SUBMODULE_STRATEGY: 'recursive',
        GIT_SUBMODULE_DEPTH: '1',
        GIT_SUBMODULE_PATHS: 'one two',
      },
      (list) => [
        ...list,
        'submodule init',
        'submodule sync --recursive',
        'submodule update --init --force --recursive --depth 1 -- one two',
      ],
    ],
  ])('are fetched %s: %j', async (_, variables, expected) => {
    expect(await got({ variables })).toEqual(expected(usual))
  })

  test.each([
    '-qf -j4 --filter=blob:none --no-tags',
    '--prune --depth 5 -j 2',
    '--filter blob:none --no-filter --no-write-fetch-head',
    '--shallow-since 2026-01-01 --shallow-exclude v1 --set-upstream --porcelain',
    '-o ci.skip --server-option x -oy --refmap= --no-recurse-submodules',
    // A value, whatever it looks like.
    '--server-option --upload-pack=x --quiet',
  ])('are fetched with %s where the job wants that', async (asked) => {
    const found = await got({ variables: { GIT_FETCH_EXTRA_FLAGS: asked, GIT_DEPTH: '0' } })
    expect(found[2]).toBe(fetchOf(asked))
  })

  test.each([
    ['--tags --upload-pack=./evil .', '--upload-pack=./evil'],
    ['--uplo evil -o', '--uplo'],
    ['--prune 5', '5'],
    ['--depth 5 /srv/other', '/srv/other'],
    ['--all', '--all'],
    ['--multiple', '--multiple'],
    ['-qm', '-qm'],
    ['--', '--'],
    ['--end-of-options .', '--end-of-options'],
    ['--recurse-submodules', '--recurse-submodules'],
    ['--recurse-submodules=no', '--recurse-submodules=no'],
    ['--filter blob:none /srv/other', '/srv/other'],
    ['--no-filter blob:none', 'blob:none'],
    ['--filter=blob:none tree:0', 'tree:0'],
    ['--prune=5', '--prune=5'],
    ['-qj 4', '-qj'],
    ['-jx', '-jx'],
    ['--stdin', '--stdin'],
    ['--server-opt x', '--server-opt'],
  ])('are fetched from the server alone, and by git alone: not with %s', async (asked, flag) => {
    const getting = got({ variables: { GIT_FETCH_EXTRA_FLAGS: asked } })
    await expect(getting).rejects.toMatchObject({
      reason: 'script_failure',
      message: `GIT_FETCH_EXTRA_FLAGS may not have ${flag}`,
    })
    expect(commands.some((one) => one.startsWith('fetch'))).toBe(false)
  })

  test.each(['--tags --filter', '--negotiation-tip', '-o', '-j'])(
    'are not fetched with %s, which would take what is not its own for a value',
    async (asked) => {
      const getting = got({ variables: { GIT_FETCH_EXTRA_FLAGS: asked } })
      const last = asked.split(' ').at(-1)
      await expect(getting).rejects.toThrow(`GIT_FETCH_EXTRA_FLAGS has no value for ${last}`)
      expect(commands.some((one) => one.startsWith('fetch'))).toBe(false)
    },
  )

  test.each([
    '--deepen 3',
    '--depth 3',
    '--filter blob:none',
    '--jobs 2',
    '-j 2',
    '-o x',
    '--refmap a:b',
    '--server-option x',
    '--server-option --upload-pack=false',
    '--shallow-exclude x',
    '--shallow-since 2026-01-01',
  ])('are fetched by a git that takes %s as we do', async (flags) => {
    const made = spawnSync('git', ['init', '--quiet', folder])
    expect(made.status).toBe(0)
    const args = ['fetch', ...flags.split(' '), '--end-of-options', 'nowhere-at-all']
    const { stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
    expect(stderr).toContain("'nowhere-at-all' does not appear to be a git repository")
  })

  test('are left out where git has no large files', async () => {
    const found = await got({ code: (command) => (command === 'lfs version' ? 1 : 0) })
    expect(found).toEqual(usual.slice(0, 6))
  })

  test('are none, or an empty folder, where the job wants that', async () => {
    await writeFile(join(folder, 'left'), 'x')
    expect(await got({ variables: { GIT_STRATEGY: 'none' } })).toEqual([])
    expect(existsSync(join(folder, 'left'))).toBe(true)
    expect(await got({ variables: { GIT_STRATEGY: 'empty' } })).toEqual([])
    expect(await readdir(folder)).toEqual([])
  })

  test.each([
    ['fetch', true, {}, true],
    ['clone', false, {}, false],
    ['clone', true, { GIT_STRATEGY: 'clone' }, false],
    ['fetch', false, { GIT_STRATEGY: 'fetch' }, true],
    ['what the project says', true, { GIT_STRATEGY: 'teleport' }, true],
    ['clone', true, { GIT_SUBMODULE_STRATEGY: 'normal' }, false],
  ])('are got by %s when fetching is %s and %j is set', async (_, fetches, variables, isKept) => {
    await mkdir(join(folder, '.git', 'objects'), { recursive: true })
    await writeFile(join(folder, 'untracked'), 'x')
    await got({ fetches, variables })
    expect([
      existsSync(join(folder, '.git/objects')),
      existsSync(join(folder, 'untracked')),
    ]).toEqual([isKept, isKept])
    expect(said).toEqual(
      'GIT_STRATEGY' in variables && variables.GIT_STRATEGY === 'teleport'
        ? ['WARNING: GIT_STRATEGY teleport is none of fetch, clone, none, empty']
        : [],
    )
  })

  test('keep of an earlier job its objects, and no hook, setting, lock or link', async () => {
    const git = join(folder, '.git')
    for (const name of ['objects', 'refs', 'hooks', 'modules']) {
      await mkdir(join(git, name), { recursive: true })
    }
    for (const name of ['HEAD', 'index', 'config', 'index.lock', 'commondir']) {
      await writeFile(join(git, name), 'x')
    }
    await symlink('/etc', join(git, 'lfs'))
    await got()
    expect((await readdir(git)).sort()).toEqual(['HEAD', 'index', 'objects', 'refs'])
  })

  test.each(['refs/remotes/origin', 'objects/ab', 'lfs/objects/ab'])(
    'are got anew when an earlier job made %s a link, which git would write through',
    async (name) => {
      const git = join(folder, '.git')
      await mkdir(dirname(join(git, name)), { recursive: true })
      await mkdir(join(git, 'objects'), { recursive: true })
      await symlink('/nowhere/else', join(git, name))
      await got()
      expect(await readdir(folder)).toEqual([])
    },
  )

  test('are looked for nowhere else, whatever an earlier job has written of that', async () => {
    const info = join(folder, '.git/objects/info')
    await mkdir(info, { recursive: true })
    await writeFile(join(info, 'alternates'), '/srv/other/.git/objects')
    await got()
    expect(existsSync(join(folder, '.git/objects'))).toBe(true)
    expect(existsSync(info)).toBe(false)
  })

  test('are got anew when the .git of an earlier job is no folder', async () => {
    await writeFile(join(folder, '.git'), 'gitdir: /somewhere/else')
    await writeFile(join(folder, 'left'), 'x')
    await got()
    expect(await readdir(folder)).toEqual([])
  })
})

describe('sources that cannot be got', () => {
  const failing = (command: string) => (command.startsWith('fetch') ? 128 : 0)
  const fetches = () => commands.filter((one) => one.startsWith('fetch')).length

  test('are tried as often as the job says, anew each time, and then it fails', async () => {
    const variables = { GET_SOURCES_ATTEMPTS: '2' }
    await writeFile(join(folder, 'left'), 'x')
    await expect(got({ code: failing, variables })).rejects.toMatchObject({
      reason: 'script_failure',
      message: 'git failed',
    })
    expect(fetches()).toBe(2)
    expect(await readdir(folder)).toEqual([])
  })

  test('count no attempt that a server cut off by going away', async () => {
    let away = 2
    const found = await got({
      variables: { GET_SOURCES_ATTEMPTS: '1' },
      code: (command) => (command.startsWith('fetch') && away > 0 ? 128 : 0),
      wasAway: () => {
        away -= 1
        return true
      },
    })
    expect(found.at(-1)).toBe('lfs pull')
    expect(fetches()).toBe(3)
  })

  test('are not tried again once the job is over', async () => {
    const over = new AbortController()
    const code = () => {
      over.abort()
      return 137
    }
    const getting = got({ code, signal: over.signal, wasAway: () => true })
    await expect(getting).rejects.toThrow('git failed')
    expect(commands).toEqual(['init --quiet --template='])
  })
})

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { gitBytes } from '../../support/git.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import {
  histories,
  type MadeCommit,
  madePaths,
  writeHistory,
} from '../../support/random-history.ts'
import { isLong, runs } from '../../support/runs.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ limitArchives: 0 })
const ana = useCaller(world, 'ana')
let made = 0

interface Listed {
  readonly id: string
}

interface Diffed {
  readonly old_path: string
  readonly new_path: string
  readonly new_file: boolean
  readonly deleted_file: boolean
  readonly renamed_file: boolean
  readonly diff: string
}

/** One generated repository behind the API, with git beside it. */
class Judged {
  readonly project: TestProject
  readonly commits: readonly MadeCommit[]
  readonly ids: readonly string[]

  constructor(project: TestProject, commits: readonly MadeCommit[], ids: readonly string[]) {
    this.project = project
    this.commits = commits
    this.ids = ids
  }

  get(path: string): Promise<Reply> {
    return ana.get(`${this.project.api}/${path}`)
  }

  lines(...args: readonly string[]): string[] {
    return this.project
      .git(...args)
      .split('\n')
      .filter(Boolean)
  }

  content(revision: string, path: string): string {
    return gitBytes(this.project.path, ['cat-file', 'blob', `${revision}:${path}`]).toString()
  }

  /** Numbers of some commits, among them the first and the last. */
  some(): number[] {
    const n = this.ids.length
    return [...new Set([0, n >> 1, n - 2, n - 1].filter((i) => i >= 0))]
  }
}

async function judge(commits: readonly MadeCommit[]): Promise<Judged> {
  made += 1
  const project = await addProject(world, ana, 'empty', { path: `made-${made}` })
  const ids = writeHistory(project.path, commits)
  await world.ctx.db
    .updateTable('projects')
    .set({ empty_repo: 0 })
    .where('id', '=', project.id)
    .execute()
  return new Judged(project, commits, ids)
}

async function judgeLists(at: Judged): Promise<void> {
  const all = async (query: string) => {
    const ids: string[] = []
    for (let page = '1'; page !== ''; ) {
      const reply = await at.get(`commits?per_page=7&page=${page}&${query}`)
      expect(reply.status).toBe(200)
      ids.push(...reply.body.map(({ id }: Listed) => id))
      page = reply.headers.get('x-next-page') ?? ''
    }
    return ids
  }
  const log = (...args: readonly string[]) =>
    at.lines('--literal-pathspecs', 'log', '--format=%H', ...args)
  expect(await all('')).toEqual(log('main'))
  expect(await all('order=topo')).toEqual(log('--topo-order', 'main'))
  expect(await all('first_parent=true')).toEqual(log('--first-parent', 'main'))
  expect((await all('all=true')).sort()).toEqual(log('--all').sort())
  for (const path of [...madePaths, 'b/d', 'nowhere']) {
    expect(await all(`path=${encodeURIComponent(path)}`)).toEqual(log('main', '--', path))
  }
  const middle = at.commits[at.commits.length >> 1]?.seconds ?? 0
  const until = new Date(middle * 1000).toISOString().replace('.000', '')
  expect(await all(`until=${until}`)).toEqual(log(`--min-age=${middle}`, 'main'))
}

async function judgeCommits(at: Judged): Promise<void> {
  for (const i of at.some()) {
    const id = at.ids[i] ?? ''
    const { body } = await at.get(`commits/c${i}`)
    const [tree = '', parents = '', author, email, date] = at.project
      .git('show', '-s', '--format=%T%n%P%n%an%n%ae%n%aI', id)
      .split('\n')
    expect(tree).toHaveLength(40)
    expect(body).toMatchObject({
      id,
      parent_ids: parents.split(' ').filter(Boolean),
      author_name: author,
      author_email: email,
    })
    expect(Date.parse(body.authored_date)).toBe(Date.parse(date ?? ''))
    const holders = at.lines('for-each-ref', '--format=%(refname)', `--contains=${id}`)
    const refs = await at.get(`commits/${id}/refs?per_page=100`)
    expect(
      refs.body
        .map((ref: { type: string; name: string }) =>
          ref.type === 'tag' ? `refs/tags/${ref.name}` : `refs/heads/${ref.name}`,
        )
        .sort(),
    ).toEqual(holders.sort())
    const count = await at.get(`commits/${id}/sequence`)
    expect(count.body.count).toBe(Number(at.project.git('rev-list', '--count', id)))
    const straight = await at.get(`commits/${id}/sequence?first_parent=true`)
    const first = at.project.git('rev-list', '--count', '--first-parent', id)
    expect(straight.body.count).toBe(Number(first))
    await judgeDiff(at, i, body.stats)
  }
}

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

async function judgeDiff(
  at: Judged,
  i: number,
  stats: { additions: number; deletions: number },
): Promise<void> {
  const id = at.ids[i] ?? ''
  const [parent] = at.lines('rev-list', '--parents', '-1', id)[0]?.split(' ').slice(1) ?? []
  const before = parent ?? emptyTree
  const numbers = at
    .lines('diff', '--numstat', '--no-renames', before, id)
    .map((line) => line.split('\t'))
  const sum = (column: number) => numbers.reduce((total, row) => total + Number(row[column]), 0)
  // Renames count their changed lines alone.
  expect(stats.additions).toBeLessThanOrEqual(sum(0))
  expect(stats.additions - stats.deletions).toBe(sum(0) - sum(1))
  const { body } = await at.get(`commits/${id}/diff?per_page=100`)
  assertApplies(at, body, before, id)
}

/** jsdiff makes the new files out of the old ones, and no file but those is different. */
function assertApplies(at: Judged, diffs: readonly Diffed[], before: string, after: string): void {
  const touched = new Set<string>()
  for (const file of diffs) {
    const old = file.new_file ? '' : at.content(before, file.old_path)
    const now = file.deleted_file ? '' : at.content(after, file.new_path)
    const patched = file.diff === '' ? old : applyPatch(old, `--- a\n+++ b\n${file.diff}`)
    expect(patched).toBe(now)
    touched.add(file.new_path)
    if (file.renamed_file || file.deleted_file) touched.add(file.old_path)
  }
  const changed = at.project
    .git('diff', '--name-only', '--no-renames', '-z', before, after)
    .split('\0')
    .filter(Boolean)
  expect([...touched].sort()).toEqual(changed.sort())
}

async function judgePairs(at: Judged): Promise<void> {
  const some = at.some()
  for (const a of some) for (const b of some) await judgePair(at, a, b)
  if (some.length < 2) return
  const refs = some.map((i) => `c${i}`).join(',')
  await judgeBase(at, `merge_base?refs=${refs}`, mergeBases(at, some, '--octopus'))
}

async function judgePair(at: Judged, a: number, b: number): Promise<void> {
  const [from = '', to = ''] = [at.ids[a], at.ids[b]]
  const { body } = await at.get(`compare?from=c${a}&to=c${b}`)
  const listed = body.commits.map(({ id }: Listed) => id)
  expect(listed.toSorted()).toEqual(at.lines('rev-list', to, `^${from}`).sort())
  const bases = mergeBases(at, [a, b])
  if (bases.length === 1) assertApplies(at, body.diffs, bases[0] ?? '', to)
  await judgeBase(at, `merge_base?refs[]=c${a}&refs[]=c${b}`, bases)
  const straight = await at.get(`compare?from=c${a}&to=c${b}&straight=true`)
  assertApplies(at, straight.body.diffs, from, to)
}

async function judgeBase(at: Judged, path: string, bases: readonly string[]): Promise<void> {
  const found = await at.get(path)
  expect(found.status).toBe(bases.length === 0 ? 404 : 200)
  if (bases.length > 0) expect(bases).toContain(found.body.id)
}

function mergeBases(at: Judged, numbers: readonly number[], ...more: readonly string[]): string[] {
  try {
    const ids = numbers.map((i) => at.ids[i] ?? '')
    return at.lines('merge-base', '--all', ...more, ...ids)
  } catch {
    return []
  }
}

async function judgeTrees(at: Judged): Promise<void> {
  for (const i of at.some()) {
    const reply = await at.get(`tree?ref=c${i}&recursive=true&pagination=none`)
    const expected = at.project
      .git('ls-tree', '-r', '-t', '-z', at.ids[i] ?? '')
      .split('\0')
      .filter(Boolean)
    if (expected.length === 0 && reply.status === 404) continue
    const rows = reply.body.map(
      (row: { mode: string; type: string; id: string; path: string }) =>
        `${row.mode} ${row.type} ${row.id}\t${row.path}`,
    )
    expect(rows.sort()).toEqual(expected.sort())
    for (const row of reply.body) if (row.type === 'blob') await judgeFile(at, i, row)
  }
}

async function judgeFile(at: Judged, i: number, row: { id: string; path: string }): Promise<void> {
  const content = at.content(at.ids[i] ?? '', row.path)
  const file = (await at.get(`files/${encodeURIComponent(row.path)}?ref=c${i}`)).body
  expect(Buffer.from(file.content, 'base64').toString()).toBe(content)
  expect(file).toMatchObject({
    blob_id: row.id,
    commit_id: at.ids[i],
    last_commit_id: at.project.git('log', '-1', '--format=%H', at.ids[i] ?? '', '--', row.path),
    content_sha256: createHash('sha256').update(content).digest('hex'),
  })
  const blame = await at.get(`files/${encodeURIComponent(row.path)}/blame?ref=c${i}`)
  const said = blame.body.flatMap((part: { commit: Listed; lines: string[] }) =>
    part.lines.map((line) => `${part.commit.id} ${line}`),
  )
  expect(said).toEqual(blameOfGit(at, at.ids[i] ?? '', row.path))
}

function blameOfGit(at: Judged, id: string, path: string): string[] {
  let current = ''
  return at.lines('blame', '--line-porcelain', id, '--', path).flatMap((line) => {
    current = /^([0-9a-f]{40}) \d/.exec(line)?.[1] ?? current
    return line.startsWith('\t') ? [`${current} ${line.slice(1)}`] : []
  })
}

async function judgePeople(at: Judged): Promise<void> {
  const { body } = await at.get('contributors?ref=main&per_page=100&order_by=commits&sort=desc')
  const rows = body.map(
    (row: { name: string; email: string; commits: number }) =>
      `${row.commits}\t${row.name} <${row.email}>`,
  )
  const counted = at.lines('shortlog', '-sne', '--no-merges', 'main').map((line) => line.trim())
  expect(rows.sort()).toEqual(counted.sort())
}

async function judgeArchive(at: Judged): Promise<void> {
  const url = `${world.url}/api/v4${at.project.api}/archive.tar?sha=main`
  const reply = await fetch(url, { headers: { 'PRIVATE-TOKEN': ana.token ?? '' } })
  const bytes = Buffer.from(await reply.arrayBuffer())
  const ours = contents(bytes)
  const theirs = contents(gitBytes(at.project.path, ['archive', '--prefix=top/', 'main']))
  expect(ours).toEqual(theirs)
}

/** Path below the top folder and hash of every file of a tar. */
function contents(tar: Buffer): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-oracle-'))
  try {
    execFileSync('tar', ['-x', '--strip-components=1', '-C', folder], { input: tar })
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        const hash = createHash('sha1').update(readFileSync(path)).digest('hex')
        return `${path.slice(folder.length + 1)} ${hash}`
      })
      .sort()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('the API says of any history what git says', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (commits) => {
      const at = await judge(commits)
      await judgeLists(at)
      await judgeCommits(at)
      await judgePairs(at)
      await judgeTrees(at)
      await judgePeople(at)
      await judgeArchive(at)
    }),
    {
      endOnFailure: isLong || process.env.FC_RUNS !== undefined,
      ...runs(1, 4),
    },
  )
}, 600_000)

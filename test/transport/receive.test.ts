import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, openWorld, useWorld } from '../support/world.ts'
import { pushBody, sendRaw } from './raw-push.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let project: TestProject
let source: string

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  project = await makeProject(world, ana, 'small')
  source = await folders.repository()
  await gitClient(source, ['push', '-q', project.url(ana), 'main'])
})

afterAll(() => folders.clear())

/** The refs that were pushed since the last call, and what became of them. */
async function pushes() {
  const rows = await world.ctx.db
    .selectFrom('pushes')
    .innerJoin('ref_moves', 'ref_moves.push_id', 'pushes.id')
    .select(['pushes.id', 'pushes.state', 'ref', 'ref_moves.state as move'])
    .where('pushes.id', '>', seen)
    .orderBy('ref_moves.id')
    .execute()
  seen = Math.max(seen, ...rows.map(({ id }) => id))
  expect(rows.map(({ state }) => state)).toEqual(rows.map(() => 'closed'))
  return rows.map(({ ref, move }) => [ref, move])
}
let seen = 0

const push = (...args: string[]) => runGitClient(source, ['push', project.url(ana), ...args])
const held = (ref: string) => gitClient(project.repository, ['rev-parse', ref])
const tip = () => gitClient(source, ['rev-parse', 'HEAD'])

/** An object as it is written here, well formed or not. */
async function hashObject(type: 'commit' | 'tree', content: string | Buffer): Promise<string> {
  const file = join(await folders.folder(), type)
  await writeFile(file, content)
  return await gitClient(source, ['hash-object', '-t', type, '--literally', '-w', file])
}

/** Sound, and nothing is left lying about. */
async function expectSound(): Promise<void> {
  expect(await gitClient(project.repository, ['fsck', '--full', '--strict', '--no-dangling'])).toBe(
    '',
  )
  const left = () =>
    readdirSync(join(project.repository, 'objects')).filter((name) => name.startsWith('tmp_'))
  await expect.poll(left).toEqual([])
}

describe('a push of one ref that brings little', () => {
  test('goes through, and says what git says', async () => {
    await pushes()
    await commitFile(source, 'one', '1', 'One')
    const first = await push('main')
    expect(first.code).toBe(0)
    expect(first.stderr).toMatch(/^ {3}[0-9a-f]+\.\.[0-9a-f]+ +main -> main$/m)
    expect(await held('refs/heads/main')).toBe(await tip())
    const made = await push('-o', 'ci.skip', 'main:refs/heads/topic/new')
    expect(made.stderr).toContain('* [new branch]      main -> topic/new')
    expect(made.stderr).toContain('remote: To create a merge request for topic/new, visit:')
    await gitClient(source, ['tag', '-a', 'v1', '-m', 'One'])
    expect((await push('v1')).code).toBe(0)
    expect(await pushes()).toEqual([
      ['refs/heads/main', 'moved'],
      ['refs/heads/topic/new', 'moved'],
      ['refs/tags/v1', 'moved'],
    ])
    await expectSound()
  })

  test('is refused by rules, in their words', async () => {
    const protect = { name: 'locked', push_access_level: 0 }
    expect((await ana.post(`/projects/${project.id}/protected_branches`, protect)).status).toBe(201)
    await commitFile(source, 'two', '2', 'Two')
    const before = await held('refs/heads/main')
    const alone = await push('main:locked')
    const together = await push('--atomic', 'main:locked', 'main:other')
    for (const run of [alone, together]) {
      expect(run.stderr).toContain('remote: SVC: You are not allowed to')
      expect(run.stderr).toContain('! [remote rejected] main -> locked (pre-receive hook declined)')
    }
    expect(await held('refs/heads/main')).toBe(before)
    await pushes()
    await expectSound()
  })

  test('is refused by rules that look at its commits', async () => {
    const rule = { commit_message_regex: '^JIRA-' }
    expect((await ana.post(`/projects/${project.id}/push_rule`, rule)).status).toBe(201)
    const run = await push('main:ruled')
    expect(run.code).toBe(1)
    expect(run.stderr).toMatch(/remote: SVC: Commit message does not follow the pattern/)
    expect(run.stderr).toContain('! [remote rejected] main -> ruled (pre-receive hook declined)')
    expect((await ana.delete(`/projects/${project.id}/push_rule`)).status).toBe(204)
    expect(await pushes()).toEqual([['refs/heads/ruled', 'refused']])
    expect((await push('main')).code).toBe(0)
    expect(await pushes()).toEqual([['refs/heads/main', 'moved']])
    await expectSound()
  })
})

describe('what is special about a push', () => {
  test('a file that moved goes through all the same', async () => {
    await gitClient(source, ['mv', 'one', 'moved-one'])
    await gitClient(source, ['commit', '-q', '-m', 'Move'])
    expect((await push('main')).code).toBe(0)
    expect(await pushes()).toEqual([['refs/heads/main', 'moved']])
    await expectSound()
  })

  test('several refs, deletions, and the push of a shallow clone go through', async () => {
    expect((await push('main:a', 'main:b')).code).toBe(0)
    expect((await push('--delete', 'a')).code).toBe(0)
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', '--depth=1', project.url(ana), 'clone'])
    await commitFile(join(folder, 'clone'), 'shallow', 's', 'Shallow')
    await gitClient(join(folder, 'clone'), ['push', '-q', 'origin', 'HEAD:shallow'])
    const moved = (await pushes()).map(([, move]) => move)
    expect(moved).toEqual(['moved', 'moved', 'moved', 'moved'])
    await expectSound()
  })

  test('a ref that is in the way, and one that is elsewhere by now, are refused as git does', async () => {
    const inTheWay = await push('main:b/below')
    expect(inTheWay.code).toBe(1)
    expect(inTheWay.stderr).toMatch(/\[remote rejected\] main -> b\/below \(.+\)/)
    // It claims that there is no such branch.
    const stale = pushBody([['refs/heads/main', await held('refs/heads/b')]], {
      capabilities: 'report-status',
    })
    const { status, text } = await sendRaw(project.url(ana), stale)
    expect(status).toBe(200)
    expect(text).toMatch(/ng refs\/heads\/main .*(already exists|failed to update ref)/)
    expect((await pushes()).every(([, move]) => move === 'refused')).toBe(true)
    await expectSound()
  })

  test('objects that git finds fault with are refused in its words', async () => {
    // A commit without an author, which only git's own check refuses.
    const tree = await gitClient(source, ['rev-parse', 'HEAD^{tree}'])
    const raw = `tree ${tree}\nparent ${await held('refs/heads/main')}\ncommitter C <c@x.test> 1 +0000\n\nbad\n`
    const id = await hashObject('commit', raw)
    const run = await push(`${id}:refs/heads/bad`)
    expect(run.code).toBe(1)
    expect(run.stderr).toContain('missingAuthor')
    expect(run.stderr).toContain('(unpacker error)')
    expect((await pushes()).every(([, move]) => move === 'refused')).toBe(true)
    await expectSound()
  })

  test('what git only warns of goes through, and its user hears of it', async () => {
    const blob = await gitClient(source, ['rev-parse', 'HEAD:README.md'])
    const odd = Buffer.concat([Buffer.from('100664 odd\0'), Buffer.from(blob, 'hex')])
    const tree = await hashObject('tree', odd)
    const id = await gitClient(source, ['commit-tree', '-p', 'HEAD', '-m', 'Odd', tree])
    const run = await push(`${id}:refs/heads/odd`)
    expect(run.code).toBe(0)
    expect(run.stderr).toContain('badFilemode')
    expect((await pushes()).at(-1)).toEqual(['refs/heads/odd', 'moved'])
    await push('--delete', 'odd')
    await pushes()
  })

  test('a pack above what the operator allows is refused, however small that is', async () => {
    const strict = await openWorld({ maxPush: 20_000 })
    const ben = await strict.user('ben')
    const target = await makeProject(strict, ben, 'strict')
    const folder = await folders.repository()
    await gitClient(folder, ['push', '-q', target.url(ben), 'main'])
    await commitFile(folder, 'noise', randomBytes(60_000).toString('base64'), 'Noise')
    const run = await runGitClient(folder, ['push', target.url(ben), 'main'])
    expect(run.code).toBe(1)
    expect(run.stderr).toMatch(/exceeds maximum allowed size/)
    await strict.close()
  })

  test('a commit on top of one that no ref leads to is refused', async () => {
    const lost = await commitFile(source, 'lost', 'lost', 'Lost')
    const onTop = await commitFile(source, 'top', 'top', 'On top')
    const bytes = execFileSync('git', ['pack-objects', '-q', '--revs', '--stdout'], {
      cwd: source,
      input: `${onTop}\n^${lost}\n`,
    })
    const body = pushBody([['refs/heads/lost', onTop]], { pack: bytes })
    const { text } = await sendRaw(project.url(ana), body)
    expect(text).toMatch(
      /unpack .*|ng refs\/heads\/lost (missing necessary objects|unpacker error)/,
    )
    expect(text).not.toContain('ok refs/heads/lost')
    await pushes()
    await expectSound()
  })
})

test('of two that move one branch at once one goes through, and the other hears why', async () => {
  const sources = await Promise.all(
    [1, 2, 3, 4].map(async (i) => {
      const folder = join(await folders.folder(), 'clone')
      await gitClient(source, ['clone', '-q', project.url(ana), folder])
      await commitFile(folder, `racer-${i}`, String(i), `Racer ${i}`)
      return folder
    }),
  )
  const runs = await Promise.all(
    sources.map((folder) => runGitClient(folder, ['push', '-q', 'origin', 'HEAD:main'])),
  )
  expect(runs.filter(({ code }) => code === 0)).toHaveLength(1)
  for (const { code, stderr } of runs) {
    if (code !== 0) expect(stderr).toMatch(/rejected|cannot lock ref|failed to update ref/)
  }
  const moved = (await pushes()).filter(([, move]) => move === 'moved')
  expect(moved).toHaveLength(1)
  await expectSound()
})

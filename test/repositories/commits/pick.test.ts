import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let feature: string
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
  await addMember(world, project, dev, 30)
  feature = project.git('rev-parse', 'feature/one')
})

function pick(sha: string, body: Record<string, unknown>): Promise<Reply> {
  return dev.post(`${project.api}/commits/${encodeURIComponent(sha)}/cherry_pick`, body)
}

function revert(sha: string, body: Record<string, unknown>): Promise<Reply> {
  return dev.post(`${project.api}/commits/${encodeURIComponent(sha)}/revert`, body)
}

const sorry = (kind: string, done: string) =>
  `Sorry, we cannot ${kind} this commit automatically. This commit may already have been ${done}, or a more recent commit may have updated some of its content.`

describe('a cherry-pick', () => {
  test('puts the change on the branch, by its author, with the caller as committer', async () => {
    const before = project.git('rev-parse', 'main')
    const reply = await pick('feature/one', { branch: 'main' })
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({
      parent_ids: [before],
      title: 'Try a feature',
      message: `Try a feature\n\n(cherry picked from commit ${feature})`,
      committer_name: 'dev',
      committer_email: 'dev@example.com',
    })
    const author = (commit: string) => project.git('log', '-1', '--format=%an <%ae> %ad', commit)
    expect(author('main')).toBe(author(feature))
    expect(reply.body.author_name).not.toBe('dev')
    expect(reply.body.authored_date).not.toBe(reply.body.committed_date)
    expect(project.git('rev-parse', 'main')).toBe(reply.body.id)
    expect(project.git('show', 'main:src/feature.ts')).toContain('feature = true')
    project.git('fsck', '--strict')
  })

  test('has the message that is sent', async () => {
    const reply = await pick(feature, { branch: 'main', message: 'In my words' })
    expect(reply.body.message).toBe('In my words')
  })

  test('tried dry changes nothing', async () => {
    const before = project.git('rev-parse', 'main')
    const reply = await pick(feature, { branch: 'main', dry_run: true })
    expect([reply.status, reply.body]).toEqual([200, { dry_run: 'success' }])
    expect(project.git('rev-parse', 'main')).toBe(before)
  })

  test('of what is there already is empty', async () => {
    await pick(feature, { branch: 'main' })
    const message = sorry('cherry-pick', 'cherry-picked')
    const again = await pick(feature, { branch: 'main' })
    expect([again.status, again.body]).toEqual([400, { message, error_code: 'empty' }])
    const dry = await pick(feature, { branch: 'main', dry_run: true })
    expect(dry.body).toEqual({ message, error_code: 'empty', dry_run: 'error' })
  })

  test('that clashes is a conflict', async () => {
    const change = project.git('log', '-1', '--format=%H', '--grep=Correct', 'main')
    const content = 'export const answer = 7\n'
    await dev.put(`${project.api}/files/src%2Fmain.ts`, {
      branch: 'main',
      commit_message: 'Otherwise',
      content,
    })
    const reply = await pick(change, { branch: 'main' })
    expect([reply.status, reply.body.error_code]).toEqual([400, 'conflict'])
  })

  test('of a merge takes what it brought, and lists that', async () => {
    const merges = await addProject(world, ana, 'merges', { path: `merges${count}` })
    const sha = merges.git('rev-parse', 'octopus')
    const target = merges.git('rev-parse', 'octopus^1')
    merges.git('branch', 'target', target)
    const reply = await ana.post(`${merges.api}/commits/${sha}/cherry_pick`, { branch: 'target' })
    expect(reply.status).toBe(201)
    const listed = merges
      .git(
        'log',
        '--reverse',
        '--abbrev=8',
        '--format=%h %s',
        `${sha}^1..${sha}^2`,
        `${sha}^3`,
        `^${sha}^1`,
      )
      .split('\n')
    const lines: string[] = reply.body.message.split('\n')
    expect(lines.slice(0, 4)).toEqual([
      merges.git('log', '-1', '--format=%s', sha),
      '',
      `(cherry picked from commit ${sha})`,
      '',
    ])
    expect(lines.slice(4).sort()).toEqual(listed.sort())
    expect(merges.git('rev-parse', 'target^{tree}')).toBe(merges.git('rev-parse', `${sha}^{tree}`))
  })
})

describe('a revert', () => {
  test('takes the change back', async () => {
    const sha = project.git('rev-parse', 'main')
    const reply = await revert('main', { branch: 'main' })
    expect(reply.status).toBe(201)
    expect(reply.body.message).toBe(`Revert "Say more"\n\nThis reverts commit ${sha}`)
    expect(project.git('rev-parse', 'main^{tree}')).toBe(
      project.git('rev-parse', `${sha}~1^{tree}`),
    )
    const again = await revert(sha, { branch: 'main' })
    expect([again.status, again.body]).toEqual([
      400,
      { message: sorry('revert', 'reverted'), error_code: 'empty' },
    ])
    const dry = await revert('v1.0.0', { branch: 'main', dry_run: 'true' })
    expect([dry.status, dry.body]).toEqual([200, { dry_run: 'success' }])
  })
})

describe('either is refused', () => {
  test.each([
    [{}, 400, { error: 'branch is missing' }],
    [{ branch: '' }, 400, { error: 'branch is empty' }],
    [{ branch: 'nowhere' }, 404, { message: '404 Branch Not Found' }],
    [{ branch: 'a b' }, 404, { message: '404 Branch Not Found' }],
    [{ branch: 'main', dry_run: 'maybe' }, 400, { error: 'dry_run is invalid' }],
  ])('with %j', async (body, status, answer) => {
    for (const act of [pick, revert]) {
      const reply = await act(feature, body)
      expect([reply.status, reply.body]).toEqual([status, answer])
    }
  })

  test('in the order of right, commit, branch', async () => {
    const reporter = await world.user(`rep${count}`)
    await addMember(world, project, reporter, 20)
    for (const verb of ['cherry_pick', 'revert']) {
      const path = `${project.api}/commits/nowhere/${verb}`
      const mayNot = await reporter.post(path, { branch: 'nowhere' })
      expect([mayNot.status, mayNot.body]).toEqual([
        403,
        { message: '403 Forbidden - You are not allowed to push into this branch' },
      ])
      const missing = await dev.post(path, { branch: 'nowhere' })
      expect([missing.status, missing.body]).toEqual([404, { message: '404 Commit Not Found' }])
      expect((await world.nobody.post(path, { branch: 'main' })).status).toBe(404)
    }
  })
})

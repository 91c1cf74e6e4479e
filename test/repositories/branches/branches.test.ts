import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { oddBranchNames } from '../../../fixtures/repositories/contents.ts'
import { deleteMergedBranches } from '../../../src/repositories/branches/tasks.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let odd: TestProject
let many: TestProject
let project: TestProject
let count = 0

beforeAll(async () => {
  odd = await addProject(world, ana, 'odd-names')
  many = await addProject(world, ana, 'many-branches')
})
beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
  await addMember(world, project, dev, 30)
})

function url(name: string, of = project): string {
  return `${of.api}/branches/${encodeURIComponent(name)}`
}

function names(reply: Reply): string[] {
  return reply.body.map((branch: { name: string }) => branch.name)
}

function listed(of: TestProject, ...args: string[]): string[] {
  const text = of.git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads', ...args)
  return text.split('\n').filter(Boolean)
}

async function protect(name: string, level = 40): Promise<void> {
  const body = level === 30 ? { developers_can_push: true, developers_can_merge: true } : {}
  const reply = await ana.put(`${url(name)}/protect`, body)
  expect(reply.status).toBe(200)
}

describe('listing branches', () => {
  test('gives each with its tip and its state', async () => {
    const reply = await dev.get(`${project.api}/branches`)
    expect(names(reply)).toEqual(listed(project))
    const old = reply.body.find((branch: { name: string }) => branch.name === 'old')
    expect(old).toMatchObject({
      merged: true,
      protected: false,
      developers_can_push: false,
      developers_can_merge: false,
      can_push: true,
      default: false,
      web_url: `${world.app.config.externalUrl}/${project.fullPath}/-/tree/old`,
    })
    expect(old.commit.id).toBe(project.git('rev-parse', 'old'))
    expect(Object.keys(old.commit)).toContain('extended_trailers')
    const main = reply.body.find((branch: { name: string }) => branch.name === 'main')
    expect([main.merged, main.default]).toEqual([false, true])
    const feature = reply.body.find((branch: { name: string }) => branch.name === 'feature/one')
    expect(feature.merged).toBe(false)
    expect(reply.headers.get('x-total')).toBe('4')
  })

  test.each([
    ['search=ea', (name: string) => name.includes('ea')],
    ['search=^rel', (name: string) => name.startsWith('rel')],
    ['search=one$', (name: string) => name.endsWith('one')],
    ['search=^old$', (name: string) => name === 'old'],
    ['search=nothing', () => false],
    ['regex=^(main|old)$', (name: string) => name === 'main' || name === 'old'],
  ])('with %s filters', async (query, test) => {
    const reply = await ana.get(`${project.api}/branches?${query.replace('^', '%5E')}`)
    expect(names(reply)).toEqual(listed(project).filter(test))
  })

  test.each([
    ['updated_asc', 'committerdate'],
    ['updated_desc', '-committerdate'],
  ])('sorts by %s', async (sort, key) => {
    const reply = await ana.get(`${project.api}/branches?sort=${sort}`)
    expect(names(reply)).toEqual(listed(project, `--sort=${key}`))
  })

  test('pages a thousand by number and by name, each once', async () => {
    const all = listed(many)
    const third = await ana.get(`${many.api}/branches?per_page=50&page=3`)
    expect(names(third)).toEqual(all.slice(100, 150))
    expect(third.headers.get('x-total')).toBe(String(all.length))
    let next: string | undefined = `${many.api}/branches?pagination=keyset&per_page=100`
    const seen: string[] = []
    while (next !== undefined) {
      const reply: Reply = await ana.get(next)
      expect(reply.headers.get('x-total')).toBeNull()
      seen.push(...names(reply))
      const link: string = reply.headers.get('link') ?? ''
      next = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(link)?.[1]
    }
    expect(seen).toEqual(all)
  })

  test('of a repository that was empty shows its first branches', async () => {
    for (const [branch, expected] of [
      ['feature/a', ['feature/a', 'main']],
      ['main', ['main']],
    ] as const) {
      const empty = await addProject(world, ana, 'empty', { path: `begin${count}${branch.length}` })
      const at = `${empty.api}/branches`
      const unknown = await ana.post(at, { branch, ref: 'nowhere' })
      expect([unknown.status, unknown.body.message]).toEqual([
        400,
        'Invalid reference name: nowhere',
      ])
      expect((await ana.get(at)).body).toEqual([])
      const made = await ana.post(at, { branch, ref: 'main' })
      expect([made.status, made.body.name, made.body.commit.title]).toEqual([
        201,
        branch,
        'Add README.md',
      ])
      expect(names(await ana.get(at))).toEqual(expected)
      expect(empty.git('ls-tree', '--name-only', branch)).toBe('README.md')
      const project = await ana.get(`/projects/${empty.id}`)
      expect([project.body.empty_repo, project.body.default_branch]).toEqual([false, 'main'])
      expect((await ana.post(at, { branch, ref: 'main' })).status).toBe(400)
    }
  })

  test('of a repository that was empty may begin at once', async () => {
    const empty = await addProject(world, ana, 'empty', { path: `race${count}` })
    const branches = ['a', 'b', 'c', 'd']
    const made = await Promise.all(
      branches.map((branch) => ana.post(`${empty.api}/branches`, { branch, ref: 'main' })),
    )
    expect(made.map((one) => one.status)).toEqual([201, 201, 201, 201])
    expect(names(await ana.get(`${empty.api}/branches`))).toEqual([...branches, 'main'])
    expect(empty.git('rev-list', '--count', '--all')).toBe('1')
  })

  test('of a repository that stays empty leaves it so for who may not push', async () => {
    const empty = await addProject(world, ana, 'empty', { path: `barred${count}` })
    await addMember(world, empty, dev, 30)
    const reply = await dev.post(`${empty.api}/branches`, { branch: 'a', ref: 'main' })
    expect([reply.status, reply.body.message]).toEqual([
      400,
      'You are not allowed to push code to protected branches on this project.',
    ])
    expect((await ana.get(`${empty.api}/branches`)).body).toEqual([])
  })

  test('of an empty repository gives nothing', async () => {
    const empty = await addProject(world, ana, 'empty', { path: `empty${count}` })
    expect((await ana.get(`${empty.api}/branches`)).body).toEqual([])
    const one = await ana.get(url('main', empty))
    expect([one.status, one.body]).toEqual([404, { message: '404 Branch Not Found' }])
  })

  test.each([
    ['sort=size', 400, { error: 'sort does not have a valid value' }],
    ['regex=(', 400, { error: 'regex is invalid' }],
    ['per_page=0', 400, { error: 'per_page has a value not allowed' }],
  ])('with %s is refused', async (query, status, body) => {
    const reply = await ana.get(`${project.api}/branches?${query}`)
    expect([reply.status, reply.body]).toEqual([status, body])
  })
})

describe('one branch', () => {
  test.each(oddBranchNames.filter((name) => !name.startsWith('-')))('%s is found', async (name) => {
    const reply = await ana.get(url(name, odd))
    expect([reply.status, reply.body.name]).toEqual([200, name])
    const head = await ana.head(url(name, odd))
    expect([head.status, head.body]).toEqual([204, ''])
  })

  test('that does not exist is answered unlike an invalid name', async () => {
    const missing = await ana.get(url('nowhere'))
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Branch Not Found' }])
    expect((await ana.head(url('nowhere'))).status).toBe(404)
    for (const name of ['a b', 'a..b', 'x~1', '-x', 'x.lock', 'a@{0}']) {
      const reply = await ana.get(url(name))
      expect([reply.status, reply.body]).toEqual([
        400,
        { message: 'The branch refname is invalid' },
      ])
    }
    // A tag is no branch.
    expect((await ana.get(url('v1.0.0'))).status).toBe(404)
  })

  test('of a switched-off repository is hidden', async () => {
    const off = await addProject(world, ana, 'basic', {
      path: `off${count}`,
      visibility: 'public',
      settings: { repository_access_level: 'private' },
    })
    const reply = await world.nobody.get(url('main', off))
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Repository Not Found' }])
  })
})

describe('creating a branch', () => {
  test.each(['main', 'v1.0.0', 'feature/one', 'short id'])('works from %s', async (from) => {
    const ref = from === 'short id' ? project.git('rev-parse', '--short=9', 'old') : from
    const reply = await dev.post(`${project.api}/branches`, { branch: 'my.new/branch', ref })
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ name: 'my.new/branch', can_push: true, default: false })
    const tip = project.git('rev-parse', 'refs/heads/my.new/branch')
    expect([tip, reply.body.commit.id]).toEqual([
      project.git('rev-parse', `${ref}^{commit}`),
      reply.body.commit.id,
    ])
  })

  test('takes its parameters from the query', async () => {
    const reply = await dev.post(`${project.api}/branches?branch=q&ref=main`)
    expect(reply.status).toBe(201)
  })

  test.each([
    [{ branch: 'old', ref: 'main' }, 400, { message: 'Branch already exists' }],
    [{ branch: 'new', ref: 'nowhere' }, 400, { message: 'Invalid reference name: nowhere' }],
    [{ branch: 'a b', ref: 'main' }, 400, { message: 'Branch name is invalid' }],
    [{ branch: 'refs/heads/x', ref: 'main' }, 400, { message: 'Branch name is invalid' }],
    [{ branch: 'f'.repeat(40), ref: 'main' }, 400, { message: 'Branch name is invalid' }],
    [
      { branch: 'old/sub', ref: 'main' },
      400,
      { message: "Failed to create branch 'old/sub': another branch is in the way" },
    ],
    [{ ref: 'main' }, 400, { error: 'branch is missing' }],
    [{}, 400, { error: 'branch is missing, ref is missing' }],
  ])('with %j is refused', async (body, status, answer) => {
    const reply = await dev.post(`${project.api}/branches`, body)
    expect([reply.status, reply.body]).toEqual([status, answer])
  })

  test('needs a developer', async () => {
    const reporter = await world.user(`rep${count}`)
    await addMember(world, project, reporter, 20)
    const body = { branch: 'new', ref: 'main' }
    expect((await reporter.post(`${project.api}/branches`, body)).status).toBe(403)
    expect((await world.nobody.post(`${project.api}/branches`, body)).status).toBe(404)
    const open = await addProject(world, ana, 'basic', {
      path: `open${count}`,
      visibility: 'public',
    })
    expect((await world.nobody.post(`${open.api}/branches`, body)).status).toBe(401)
  })
})

describe('deleting a branch', () => {
  test('removes it', async () => {
    const reply = await dev.delete(url('feature/one'))
    expect([reply.status, reply.body]).toEqual([204, ''])
    expect(listed(project)).not.toContain('feature/one')
    expect((await dev.delete(url('feature/one'))).body).toEqual({ message: '404 Branch Not Found' })
  })

  test('is refused for the default branch and, to developers, for a protected one', async () => {
    const main = await ana.delete(url('main'))
    expect([main.status, main.body]).toEqual([
      400,
      { message: 'The default branch of a project cannot be deleted.' },
    ])
    await protect('old')
    const old = await dev.delete(url('old'))
    expect(old.status).toBe(403)
    expect(old.body.message).toContain('delete protected branches')
    expect((await ana.delete(url('old'))).status).toBe(204)
  })

  test('heeds the time of the last change', async () => {
    const headers = { 'if-unmodified-since': 'Sun, 31 Dec 2023 00:00:00 GMT' }
    const early = await dev.delete(url('old'), undefined, { headers })
    expect([early.status, early.body]).toEqual([412, { message: '412 Precondition Failed' }])
    const late = { 'if-unmodified-since': 'Wed, 31 Jan 2024 00:00:00 GMT' }
    expect((await dev.delete(url('old'), undefined, { headers: late })).status).toBe(204)
  })

  test('of all that are merged spares protected ones and the default', async () => {
    project.git('branch', 'same-as-main', 'main')
    project.git('branch', 'done', 'main~1')
    await protect('release/1.0')
    const reply = await dev.delete(`${project.api}/merged_branches`)
    expect([reply.status, reply.body]).toEqual([202, { message: '202 Accepted' }])
    await world.runTasks()
    expect(listed(project)).toEqual(['feature/one', 'main', 'release/1.0', 'same-as-main'])
  })
})

test('a branch that is pushed to while those that are merged go is kept', async () => {
  for (const name of ['aaa', 'bbb']) project.git('branch', name, 'main~1')
  const ahead = project.git('commit-tree', '-p', 'main', '-m', 'More', 'main^{tree}').trim()
  const push = async (_: unknown, { moves }: { readonly moves: readonly { name: string }[] }) => {
    const [first] = moves
    if (first?.name === 'refs/heads/aaa') project.git('update-ref', 'refs/heads/bbb', ahead)
  }
  const effects = { ...world.ctx.effects, refsMoved: [...world.ctx.effects.refsMoved, push] }
  const { signal } = new AbortController()
  await deleteMergedBranches.handler({ ...world.ctx, effects }, { project_id: project.id }, signal)
  expect(listed(project)).toContain('bbb')
  expect(listed(project)).not.toContain('aaa')
})

describe('protecting a branch by the old way', () => {
  test('shows at once and goes away again', async () => {
    await protect('old')
    const kept = (await dev.get(url('old'))).body
    expect(kept).toMatchObject({
      protected: true,
      can_push: false,
      developers_can_push: false,
      developers_can_merge: false,
    })
    await protect('old', 30)
    expect((await dev.get(url('old'))).body).toMatchObject({
      protected: true,
      can_push: true,
      developers_can_push: true,
      developers_can_merge: true,
    })
    const gone = await ana.put(`${url('old')}/unprotect`)
    expect([gone.status, gone.body.protected]).toEqual([200, false])
  })

  test('needs a maintainer and an existing branch', async () => {
    expect((await dev.put(`${url('old')}/protect`)).status).toBe(403)
    expect((await ana.put(`${url('nowhere')}/protect`)).body).toEqual({
      message: '404 Branch Not Found',
    })
  })
})

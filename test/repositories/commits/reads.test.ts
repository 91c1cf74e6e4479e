import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let basic: TestProject
let merges: TestProject
let odd: TestProject

beforeAll(async () => {
  basic = await addProject(world, ana, 'basic')
  merges = await addProject(world, ana, 'merges')
  odd = await addProject(world, ana, 'odd-names')
})

function log(project: TestProject, ...args: string[]): string[] {
  return project
    .git('log', '--format=%H', ...args)
    .split('\n')
    .filter(Boolean)
}

function ids(reply: Reply): string[] {
  return reply.body.map((commit: { id: string }) => commit.id)
}

describe('the commits list', () => {
  test.each([
    ['', ['main']],
    ['ref_name=feature/one', ['feature/one']],
    ['ref_name=v1.0.0', ['v1.0.0']],
    ['ref_name=HEAD', ['main']],
    ['ref_name=', ['main']],
    ['ref_name=v0.1.0..main', ['v0.1.0..main']],
    ['all=true', ['--all']],
    ['all=true&ref_name=nonsense', ['--all']],
    ['path=src/main.ts', ['main', '--', 'src/main.ts']],
    ['path=docs', ['main', '--', 'docs']],
    ['author=ben', ['main', '-i', '--author=ben']],
    ['author=', ['main']],
    ['since=2024-01-01T02:00:00Z', ['main', '--since=2024-01-01T02:00:00Z']],
    ['until=2024-01-01T02:00:00Z', ['main', '--until=2024-01-01T02:00:00Z']],
    [
      'since=2024-01-01T01:00:00Z&until=2024-01-01T03:00:00Z',
      ['main', '--since=2024-01-01T01:00:00Z', '--until=2024-01-01T03:00:00Z'],
    ],
    ['path=../x', ['main', '--', 'none']],
  ])('with %s is what git lists', async (query, args) => {
    const reply = await ana.get(`${basic.api}/commits?${query}`)
    expect(reply.status).toBe(200)
    expect(ids(reply)).toEqual(log(basic, ...args))
  })

  test.each([
    ['first_parent=true', ['--first-parent']],
    ['order=topo', ['--topo-order']],
    ['path=base', ['--', 'base']],
  ])('of merges with %s is what git lists', async (query, args) => {
    const reply = await ana.get(`${merges.api}/commits?${query}`)
    expect(ids(reply)).toEqual(log(merges, 'main', ...args))
  })

  test('takes odd paths literally', async () => {
    for (const path of [
      '*.txt',
      ':colon.txt',
      '[a-z].txt',
      'c#.txt',
      '100%.txt',
      'new\nline.txt',
    ]) {
      const reply = await ana.get(`${odd.api}/commits?path=${encodeURIComponent(path)}`)
      const expected = odd.git(
        '--literal-pathspecs',
        'log',
        '--format=%H',
        'refs/heads/main',
        '--',
        path,
      )
      expect(ids(reply)).toEqual(expected.split('\n'))
    }
  })

  test('pages without totals', async () => {
    const first = await ana.get(`${basic.api}/commits?per_page=3`)
    const second = await ana.get(`${basic.api}/commits?per_page=3&page=2`)
    const third = await ana.get(`${basic.api}/commits?per_page=3&page=3`)
    expect([...ids(first), ...ids(second)]).toEqual(log(basic, 'main'))
    expect(third.body).toEqual([])
    for (const reply of [first, second, third]) {
      expect(reply.headers.get('x-total')).toBeNull()
      expect(reply.headers.get('x-total-pages')).toBeNull()
      expect(reply.headers.get('link')).not.toContain('rel="last"')
    }
    expect(first.headers.get('x-next-page')).toBe('2')
    // A full page promises another, which may be empty.
    expect(second.headers.get('x-next-page')).toBe('3')
    expect(third.headers.get('x-next-page')).toBe('')
  })

  test('shows a commit as git knows it', async () => {
    const sha = log(basic, 'main')[2] ?? ''
    const reply = await ana.get(`${basic.api}/commits?trailers=true&with_stats=true`)
    const commit = reply.body.find((each: { id: string }) => each.id === sha)
    expect(commit).toEqual({
      id: sha,
      short_id: sha.slice(0, 8),
      created_at: '2024-01-01T03:00:00.000+00:00',
      parent_ids: [log(basic, 'main')[3]],
      title: 'Add a changelog',
      message: basic.git('log', '-1', '--format=%B', sha),
      author_name: 'Ana Lovelace',
      author_email: 'ana@example.com',
      authored_date: '2024-01-01T03:00:00.000+00:00',
      committer_name: 'Ana Lovelace',
      committer_email: 'ana@example.com',
      committed_date: '2024-01-01T03:00:00.000+00:00',
      trailers: { Changelog: 'added', 'Reviewed-by': 'Ben Nakamura <ben@example.com>' },
      extended_trailers: {
        Changelog: ['added'],
        'Reviewed-by': ['Ben Nakamura <ben@example.com>'],
      },
      web_url: `${world.app.config.externalUrl}/ana/basic/-/commit/${sha}`,
      stats: { additions: 1, deletions: 0, total: 1 },
    })
    const plain = await ana.get(`${basic.api}/commits`)
    expect(plain.body[2]).toMatchObject({ trailers: {}, extended_trailers: {} })
    expect(plain.body[2]).not.toHaveProperty('stats')
  })

  test('keeps the zone of whoever wrote it', async () => {
    const reply = await ana.get(`${basic.api}/commits?author=Cleo`)
    expect(reply.body[0].authored_date).toBe('2023-12-31T22:30:00.000-03:30')
    expect(reply.body[0].committed_date).toBe('2024-01-01T02:00:00.000+00:00')
  })

  test.each([
    ['ref_name=unknown', 200, []],
    ['ref_name=-x', 400, { message: 'ref_name is invalid' }],
    ['ref_name=a%20b', 400, { message: 'ref_name is invalid' }],
    ['ref_name=main@{1}', 400, { message: 'ref_name is invalid' }],
    ['author=[', 400, { message: 'author is invalid' }],
    ['since=yesterday', 400, { error: 'since is invalid' }],
    ['until=x', 400, { error: 'until is invalid' }],
    ['order=random', 400, { error: 'order does not have a valid value' }],
    ['page=0', 400, { error: 'page does not have a valid value' }],
  ])('with %s answers %i', async (query, status, body) => {
    const reply = await ana.get(`${basic.api}/commits?${query}`)
    expect([reply.status, reply.body]).toEqual([status, body])
  })

  test('of an empty repository is empty', async () => {
    const empty = await addProject(world, ana, 'empty')
    for (const query of ['', '?all=true', '?path=x']) {
      const reply = await ana.get(`${empty.api}/commits${query}`)
      expect([reply.status, reply.body]).toEqual([200, []])
    }
  })

  test('of a tag of a tree or a file is empty, and of a damaged one it fails', async () => {
    const project = await addProject(world, ana, 'basic', { path: 'odd-tags' })
    project.git('tag', 'tree', 'main^{tree}')
    project.git('tag', 'file', 'main:README.md')
    project.git('tag', 'same-name', 'main^{tree}')
    project.git('branch', 'same-name', 'main')
    project.git('branch', 'tags/file', 'main')
    project.git('tag', '-a', '-m', 'of a tree', 'annotated', 'main^{tree}')
    for (const ref of ['tree', 'file', 'annotated', 'refs/tags/tree', 'same-name', 'tags/file']) {
      const reply = await ana.get(`${project.api}/commits?ref_name=${ref}`)
      expect([ref, reply.status, reply.body]).toEqual([ref, 200, []])
    }
    writeFileSync(join(project.path, 'refs/tags/damaged'), `${'1'.repeat(40)}\n`)
    expect((await ana.get(`${project.api}/commits?ref_name=damaged`)).status).toBe(500)
  })

  test('of a repository whose files are missing names the damage', async () => {
    const project = await addProject(world, ana, 'basic', { path: 'gone' })
    await world.ctx.git.remove(project.id)
    const reply = await ana.get(`${project.api}/commits`)
    expect(reply.status).toBe(500)
    expect(reply.body.message).toContain('The repository is damaged')
  })

  test('with the repository switched off is not found', async () => {
    const off = await addProject(world, ana, 'basic', {
      path: 'off',
      visibility: 'public',
      settings: { repository_access_level: 'disabled' },
    })
    const reply = await ana.get(`${off.api}/commits`)
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Repository Not Found' }])
  })

  test('is for those who may read the code', async () => {
    const guest = await world.user('gus')
    await addMember(world, basic, guest, 10)
    expect((await guest.get(`${basic.api}/commits`)).status).toBe(403)
    expect((await world.nobody.get(`${basic.api}/commits`)).body).toEqual({
      message: '404 Project Not Found',
    })
  })
})

describe('a single commit', () => {
  test.each(['main', 'v1.0.0', 'feature/one', 'my.branch.json'])('is found by %s', async (ref) => {
    basic.git('branch', '-f', 'my.branch.json', 'old')
    const reply = await ana.get(`${basic.api}/commits/${encodeURIComponent(ref)}`)
    expect(reply.body.id).toBe(basic.git('rev-parse', `${ref}^{commit}`))
    expect(reply.body).toMatchObject({
      project_id: basic.id,
      status: null,
      last_pipeline: null,
    })
    expect(reply.body.stats.total).toBe(reply.body.stats.additions + reply.body.stats.deletions)
  })

  test('is found by a short id, without stats when they are not wanted', async () => {
    const [sha = ''] = log(basic, 'main')
    const reply = await ana.get(`${basic.api}/commits/${sha.slice(0, 10)}?stats=false`)
    expect(reply.body.id).toBe(sha)
    expect(reply.body).not.toHaveProperty('stats')
  })

  test.each(['unknown', '0'.repeat(40), '-x', 'main@{0}', ':/Start', 'a..b'])(
    'that is not there (%s) is not found',
    async (sha) => {
      for (const tail of ['', '/refs', '/sequence', '/statuses']) {
        const reply = await ana.get(`${basic.api}/commits/${encodeURIComponent(sha)}${tail}`)
        expect([reply.status, reply.body]).toEqual([404, { message: '404 Commit Not Found' }])
      }
    },
  )
})

describe('what a commit is part of', () => {
  test.each(['branch', 'tag', 'all'])('%s: the refs that contain it', async (type) => {
    const sha = basic.git('rev-parse', 'v0.1.0')
    const reply = await ana.get(`${basic.api}/commits/${sha}/refs?type=${type}`)
    const list = (kind: string, folder: string) =>
      basic
        .git('for-each-ref', `--contains=${sha}`, '--format=%(refname:lstrip=2)', folder)
        .split('\n')
        .map((name) => ({ type: kind, name }))
    expect(reply.body).toEqual([
      ...(type === 'tag' ? [] : list('branch', 'refs/heads')),
      ...(type === 'branch' ? [] : list('tag', 'refs/tags')),
    ])
    expect(reply.headers.get('x-total')).toBeNull()
  })

  test('a wrong type is refused', async () => {
    const reply = await ana.get(`${basic.api}/commits/main/refs?type=note`)
    expect([reply.status, reply.body]).toEqual([400, { error: 'type does not have a valid value' }])
  })

  test('its place in history is a number', async () => {
    const all = await ana.get(`${merges.api}/commits/main/sequence`)
    const straight = await ana.get(`${merges.api}/commits/main/sequence?first_parent=true`)
    expect(all.body).toEqual({ count: Number(merges.git('rev-list', '--count', 'main')) })
    expect(straight.body).toEqual({
      count: Number(merges.git('rev-list', '--count', '--first-parent', 'main')),
    })
  })
})

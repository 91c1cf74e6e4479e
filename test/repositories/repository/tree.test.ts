import { beforeAll, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let basic: TestProject
let odd: TestProject

beforeAll(async () => {
  basic = await addProject(world, ana, 'basic')
  odd = await addProject(world, ana, 'odd-names')
})

/** `mode type id path` as git lists it. */
function listed(project: TestProject, ...args: string[]): string[] {
  const text = project.git('ls-tree', '-z', ...args)
  return text.split('\0').filter(Boolean)
}

function lines(reply: Reply): string[] {
  const entries: { mode: string; type: string; id: string; path: string }[] = reply.body
  return entries.map((entry) => `${entry.mode} ${entry.type} ${entry.id}\t${entry.path}`)
}

function nextLink(reply: Reply): string | undefined {
  const [, url] = /<([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '') ?? []
  return url?.replace(/^.*\/api\/v4/, '')
}

describe('the tree', () => {
  test('lists what git lists, folders first', async () => {
    const reply = await ana.get(`${basic.api}/tree`)
    expect(reply.status).toBe(200)
    const expected = listed(basic, 'main')
    expect(lines(reply).sort()).toEqual(expected.sort())
    expect(reply.body.map((entry: { type: string }) => entry.type)).toEqual([
      'tree',
      'tree',
      'blob',
      'blob',
    ])
    expect(Object.keys(reply.body[0])).toEqual(['id', 'name', 'type', 'path', 'mode'])
    expect(reply.headers.get('x-total')).toBe('4')
    expect(reply.headers.get('x-next-page')).toBe('')
  })

  test.each([
    ['a folder', 'path=docs/guide', ['main:docs/guide']],
    ['another ref', 'ref=old', ['old']],
    ['an annotated tag', 'ref=v1.0.0', ['v1.0.0']],
    ['everything', 'recursive=true', ['-r', '-t', 'main']],
  ])('lists %s', async (_name, query, args) => {
    const reply = await ana.get(`${basic.api}/tree?per_page=100&${query}`)
    const prefix = args[0]?.includes(':') ? 'docs/guide/' : ''
    const expected = listed(basic, ...args).map((line) => line.replace('\t', `\t${prefix}`))
    expect(lines(reply).sort()).toEqual(expected.sort())
  })

  test('shows odd names as they are', async () => {
    const reply = await ana.get(`${odd.api}/tree?recursive=1&per_page=100`)
    expect(lines(reply).sort()).toEqual(listed(odd, '-r', '-t', 'refs/heads/main').sort())
  })

  test('pages by keyset, each entry once', async () => {
    const seen: string[] = []
    let url: string | undefined = `${odd.api}/tree?recursive=true&pagination=keyset&per_page=7`
    for (let pages = 0; url !== undefined && pages < 20; pages += 1) {
      const reply: Reply = await ana.get(url)
      expect(reply.status).toBe(200)
      expect(reply.headers.get('x-total')).toBeNull()
      seen.push(...lines(reply))
      url = nextLink(reply)
    }
    expect(seen.sort()).toEqual(listed(odd, '-r', '-t', 'refs/heads/main').sort())
  })

  test('takes the id of the last entry as token, as older clients send it', async () => {
    const all = listed(basic, 'main').map((line) => line.split(/[\t ]/)[2])
    const reply = await ana.get(`${basic.api}/tree?pagination=keyset&page_token=${all[1]}`)
    expect(reply.body).toHaveLength(2)
  })

  test('gives everything without paging when asked', async () => {
    const reply = await ana.get(`${odd.api}/tree?recursive=true&pagination=none`)
    expect(reply.body).toHaveLength(listed(odd, '-r', '-t', 'refs/heads/main').length)
    expect(reply.headers.get('link')).toBeNull()
    expect(reply.headers.get('x-page')).toBeNull()
  })

  test.each([
    ['pagination=none', 400, { error: 'pagination cannot be "none" unless "recursive" is true' }],
    ['pagination=other', 400, { error: 'pagination does not have a valid value' }],
    ['recursive=perhaps', 400, { error: 'recursive is invalid' }],
    ['pagination=keyset&page_token=nowhere', 400, { error: 'page_token is invalid' }],
    ['ref=unknown', 404, { message: '404 Tree Not Found' }],
    ['ref=-x', 404, { message: '404 Tree Not Found' }],
    ['ref=main@{0}', 404, { message: '404 Tree Not Found' }],
    ['path=unknown', 404, { message: '404 invalid revision or path Not Found' }],
    ['path=README.md', 404, { message: '404 invalid revision or path Not Found' }],
    ['path=../x', 404, { message: '404 invalid revision or path Not Found' }],
  ])('answers %s with %i', async (query, status, body) => {
    const reply = await ana.get(`${basic.api}/tree?${query}`)
    expect([reply.status, reply.body]).toEqual([status, body])
  })

  test('of an empty repository is not found', async () => {
    const empty = await addProject(world, ana, 'empty')
    const reply = await ana.get(`${empty.api}/tree`)
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Tree Not Found' }])
  })

  test('is for those who may read the code', async () => {
    const guest = await world.user('gus')
    await addMember(world, basic, guest, 10)
    const open = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
    const off = await addProject(world, ana, 'basic', {
      path: 'off',
      visibility: 'public',
      settings: { repository_access_level: 'private' },
    })
    expect((await world.nobody.get(`${basic.api}/tree`)).status).toBe(404)
    expect((await guest.get(`${basic.api}/tree`)).status).toBe(403)
    expect((await world.nobody.get(`${open.api}/tree`)).status).toBe(200)
    expect((await world.nobody.get(`${off.api}/tree`)).status).toBe(403)
    expect((await ana.get(`${off.api}/tree`)).status).toBe(200)
  })
})

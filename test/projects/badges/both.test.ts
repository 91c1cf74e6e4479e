import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let projectId: number
let groupId: number
let topId: number
beforeAll(async () => {
  const open = { visibility: 'public' }
  topId = (await createGroup(ana, 'top', open)).id
  groupId = (await createGroup(ana, 'sub', { parent_id: topId, ...open })).id
  projectId = (await createProject(ana, 'P', { namespace_id: groupId, ...open })).id
})

const badge = {
  link_url: 'https://ci.example/%{project_path}',
  image_url: 'https://ci.example/b.svg',
}

describe.each(['projects', 'groups'] as const)('a badge of %s', (kind) => {
  const path = () => `/${kind}/${kind === 'projects' ? projectId : groupId}/badges`

  test('is added, read, changed and removed', async () => {
    const made = await ana.post(path(), { ...badge, name: 'ci' })
    const filled = kind === 'projects' ? 'https://ci.example/top/sub/p' : badge.link_url
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: made.body.id,
        name: 'ci',
        ...badge,
        rendered_link_url: filled,
        rendered_image_url: badge.image_url,
        kind: kind === 'projects' ? 'project' : 'group',
      },
    ])
    const one = `${path()}/${made.body.id}`
    expect((await world.nobody.get(one)).body).toEqual(made.body)
    const link_url = 'http://other.example/%{project_id}'
    const changed = await ana.put(one, { link_url })
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { link_url, image_url: badge.image_url, name: 'ci' },
    ])
    expect((await ana.put(one, { name: null })).body.name).toBeNull()
    expect((await ana.get(one)).body).toMatchObject({ link_url, name: null })
    expect((await ana.delete(one)).status).toBe(204)
    const gone = await ana.get(one)
    expect([gone.status, gone.body]).toEqual([404, { message: '404 Badge Not Found' }])
  })

  test.each([
    [{}, { error: 'link_url is missing, image_url is missing' }],
    [{ link_url: 'http://a' }, { error: 'image_url is missing' }],
    [
      { link_url: 'http://a', image_url: `http://b/${'x'.repeat(2048)}` },
      { error: 'image_url is too long (maximum is 2048 characters)' },
    ],
    [
      { ...badge, name: 'x'.repeat(256) },
      { error: 'name is too long (maximum is 255 characters)' },
    ],
    [
      { link_url: 'ftp://a', image_url: 'http://b' },
      { message: { link_url: ['is blocked: Only allowed schemes are http, https'] } },
    ],
  ])('is not made of %j', async (body, answer) => {
    const before = (await ana.get(path())).body
    const reply = await ana.post(path(), body)
    expect([reply.status, reply.body]).toEqual([400, answer])
    expect((await ana.get(path())).body).toEqual(before)
  })

  test('is added and changed only by those who may', async () => {
    const level = kind === 'projects' ? 30 : 40
    const members = path().replace('badges', 'members')
    await ana.post(members, { user_id: ben.id, access_level: level })
    const { id } = (await ana.post(path(), badge)).body
    expect((await ben.post(path(), badge)).status).toBe(403)
    expect((await ben.put(`${path()}/${id}`, { name: 'x' })).status).toBe(403)
    expect((await ben.delete(`${path()}/${id}`)).status).toBe(403)
    expect((await world.nobody.post(path(), badge)).status).toBe(401)
    expect((await ben.get(`${path()}/${id}`)).status).toBe(200)
    await ana.put(`${members}/${ben.id}`, { access_level: level + 10 })
    expect((await ben.delete(`${path()}/${id}`)).status).toBe(204)
    await ana.delete(`${members}/${ben.id}`)
  })
})

test('a project shows the badges of every group above it, its own last, and leaves them alone', async () => {
  const add = async (path: string, name: string) =>
    (await ana.post(`${path}/badges`, { ...badge, name })).body.id
  const ids = [
    await add(`/groups/${topId}`, 'top'),
    await add(`/groups/${groupId}`, 'sub'),
    await add(`/projects/${projectId}`, 'own'),
  ]
  const seen = (await ana.get(`/projects/${projectId}/badges`)).body
  expect(seen.map((one: { id: number; kind: string }) => [one.id, one.kind])).toEqual([
    [ids[0], 'group'],
    [ids[1], 'group'],
    [ids[2], 'project'],
  ])
  for (const one of seen) expect(one.rendered_link_url).toBe('https://ci.example/top/sub/p')
  expect((await ana.get(`/projects/${projectId}/badges?name=sub`)).body).toHaveLength(1)
  expect((await ana.get(`/projects/${projectId}/badges?per_page=1&page=3`)).body).toHaveLength(1)
  // A group shows its own alone.
  expect((await ana.get(`/groups/${groupId}/badges`)).body).toHaveLength(1)
  const ofTop = `/projects/${projectId}/badges/${ids[0]}`
  expect((await ana.get(ofTop)).status).toBe(200)
  expect((await ana.put(ofTop, { name: 'x' })).status).toBe(404)
  expect((await ana.delete(ofTop)).status).toBe(404)
  await ana.delete(`/groups/${topId}/badges/${ids[0]}`)
  expect((await ana.get(ofTop)).status).toBe(404)
})

import { expect, test } from 'vitest'
import { useCaller, useWorld } from '../support/world.ts'
import { putGeneric } from './publishing.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')

async function newGroup(path: string, parent_id?: number): Promise<number> {
  return (await ana.post('/groups', { name: path, path, parent_id })).body.id
}

const settingsOf = (group: number | string) => `/groups/${group}/packages/settings`

test('changes of different settings at the same time are all kept', async () => {
  const id = await newGroup('busy')
  const changes = [
    { maven_duplicates_allowed: false },
    { generic_duplicates_allowed: false },
    { nuget_duplicates_allowed: false },
    { terraform_module_duplicates_allowed: true },
    { nuget_symbol_server_enabled: true },
    { generic_duplicate_exception_regex: 'a.*' },
    { npm_package_requests_forwarding: true },
    { lock_pypi_package_requests_forwarding: true },
  ]
  const replies = await Promise.all(changes.map((change) => ana.put(settingsOf(id), change)))
  expect(replies.map((reply) => reply.status)).toEqual(changes.map(() => 200))
  expect((await ana.get(settingsOf(id))).body).toMatchObject(Object.assign({}, ...changes))
})

test('are those of one group, by its number or path, and go with it', async () => {
  const top = await newGroup('top')
  const sub = await newGroup('sub', top)
  await ana.put(settingsOf('top'), { generic_duplicates_allowed: false })
  expect((await ana.get(settingsOf(top))).body.generic_duplicates_allowed).toBe(false)
  expect((await ana.get(settingsOf('top%2fsub'))).body.generic_duplicates_allowed).toBe(true)
  const placed = async (name: string, namespace_id: number) => {
    const { id } = (await ana.post('/projects', { name, namespace_id })).body
    const place = `/projects/${id}/packages`
    await putGeneric(ana, place, 'a/1/f')
    return place
  }
  const [inTop, inSub] = [await placed('in-top', top), await placed('in-sub', sub)]
  expect((await putGeneric(ana, inTop, 'a/1/f')).status).toBe(400)
  expect((await putGeneric(ana, inSub, 'a/1/f')).status).toBe(201)
  // They are those of the group that a project is in by then.
  await ana.put(`/projects/${inSub.split('/')[2]}/transfer`, { namespace: top })
  expect((await putGeneric(ana, inSub, 'a/1/f')).status).toBe(400)
  for (const nowhere of ['999999', 'none', 'ana'])
    expect([nowhere, (await ana.get(settingsOf(nowhere))).status]).toEqual([nowhere, 404])
  expect((await ana.delete(`/groups/${sub}`)).status).toBe(202)
  await world.runTasks()
  expect((await ana.get(settingsOf(sub))).status).toBe(404)
})

test('an exception is a whole name or version, in linear time', async () => {
  const id = await newGroup('exceptions')
  const made = await ana.post('/projects', { name: 'p', namespace_id: id })
  const place = `/projects/${made.body.id}/packages`
  const isRefused = async (path: string) => {
    await putGeneric(ana, place, path)
    return (await putGeneric(ana, place, path)).status === 400
  }
  const set = (regex: string) =>
    ana.put(settingsOf(id), {
      generic_duplicates_allowed: false,
      generic_duplicate_exception_regex: regex,
    })
  for (const [regex, path, refused] of [
    ['', 'tool/1.0/a', true],
    ['tool', 'tool/1.0/b', false],
    ['too', 'tool/1.0/c', true],
    ['.*-SNAPSHOT', 'tool/1.0-SNAPSHOT/a', false],
    ['1\\.0', 'tool/1.0/d', false],
    ['1.0', 'tool/1x0/a', false],
    ['a|tool', 'tool/1.0/e', false],
    ['a|b', 'tool/1.0/f', true],
    ['TOOL', 'tool/1.0/g', true],
    ['^tool$', 'tool/1.0/h', false],
  ] as const) {
    expect([regex, (await set(regex)).status]).toEqual([regex, 200])
    expect([regex, await isRefused(path)]).toEqual([regex, refused])
  }
  expect((await set('(a+)+b')).status).toBe(200)
  const begun = performance.now()
  expect(await isRefused(`${'a'.repeat(200)}/1/f`)).toBe(true)
  expect(performance.now() - begun).toBeLessThan(5000)
  for (const wrong of ['(', '[', '*', '(?<=a)b', '(a)\\1'])
    expect([wrong, (await set(wrong)).status]).toEqual([wrong, 400])
  expect((await ana.get(settingsOf(id))).body.generic_duplicate_exception_regex).not.toBe('(')
})

test('take the forms of JSON and of forms, let unknown words be, and refuse other kinds of values', async () => {
  const id = await newGroup('values')
  const put = async (body: object) => (await ana.put(settingsOf(id), body)).status
  expect(await put({ unknown: 1, maven_duplicates_allowed: 0 })).toBe(200)
  const form = new URLSearchParams({ nuget_duplicates_allowed: 'no' })
  expect((await ana.put(settingsOf(id), undefined, { raw: form })).status).toBe(200)
  expect((await ana.get(settingsOf(id))).body).toMatchObject({
    maven_duplicates_allowed: false,
    nuget_duplicates_allowed: false,
  })
  expect((await ana.get(settingsOf(id))).body).not.toHaveProperty('unknown')
  for (const wrong of [
    { maven_duplicates_allowed: [true] },
    { maven_duplicates_allowed: { a: 1 } },
    { maven_duplicate_exception_regex: ['a'] },
    { npm_package_requests_forwarding: 'maybe' },
  ])
    expect([wrong, await put(wrong)]).toEqual([wrong, 400])
  expect(await put({})).toBe(200)
})

import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let top: number
let sub: number
let inside: number

beforeAll(async () => {
  top = (await createGroup(ana, 'top')).id
  sub = (await createGroup(ana, 'sub', { parent_id: top })).id
  inside = (await createProject(ana, 'in', { namespace_id: sub })).id
})

const taken = { message: 'Label already exists' }
const make = (at: string, name: string) => ana.post(`${at}/labels`, { name, color: 'red' })

describe('the title of a label', () => {
  test('is taken below the group that has it', async () => {
    await make(`/groups/${top}`, 'shared')
    for (const at of [`/groups/${top}`, `/groups/${sub}`, `/projects/${inside}`]) {
      const reply = await make(at, 'shared')
      expect([at, reply.status, reply.body]).toEqual([at, 409, taken])
    }
    const { body } = await make(`/projects/${inside}`, 'mine')
    const renamed = await ana.put(`/projects/${inside}/labels/${body.id}`, { new_name: 'shared' })
    expect([renamed.status, renamed.body]).toEqual([409, taken])
    expect((await ana.get(`/projects/${inside}/labels/${body.id}`)).body.name).toBe('mine')
  })

  test('is free above, beside and in other groups', async () => {
    await make(`/projects/${inside}`, 'local')
    expect((await make(`/groups/${top}`, 'local')).status).toBe(201)
    const beside = await createProject(ana, 'beside', { namespace_id: sub })
    await make(`/projects/${inside}`, 'twice')
    expect((await make(`/projects/${beside.id}`, 'twice')).status).toBe(201)
    const other = await createGroup(ana, 'other')
    expect((await make(`/groups/${other.id}`, 'shared')).status).toBe(201)
  })

  test('may be given again as it is', async () => {
    const { body } = await make(`/projects/${inside}`, 'same')
    const again = await ana.put(`/projects/${inside}/labels/${body.id}`, { new_name: 'same' })
    expect([again.status, again.body.name]).toEqual([200, 'same'])
  })

  test('distinguishes upper and lower case, and loses spaces around it', async () => {
    expect((await make(`/projects/${inside}`, 'Case')).status).toBe(201)
    expect((await make(`/projects/${inside}`, 'case')).status).toBe(201)
    const padded = await make(`/projects/${inside}`, '  padded out ')
    expect(padded.body.name).toBe('padded out')
    expect((await make(`/projects/${inside}`, 'padded out')).status).toBe(409)
  })

  test('is at most 255 long, has no comma, and may be of digits and slashes', async () => {
    expect((await make(`/projects/${inside}`, 'x'.repeat(255))).status).toBe(201)
    for (const name of ['x'.repeat(256), 'a,b', '  ', '']) {
      expect([name, (await make(`/projects/${inside}`, name)).status]).toEqual([name, 400])
    }
    for (const name of ['2026', 'a/b', 'k::v::w', 'ä 大 🚀', '%41', '?#&']) {
      const made = await make(`/projects/${inside}`, name)
      const read = await ana.get(`/projects/${inside}/labels/${encodeURIComponent(name)}`)
      expect([name, made.status, read.status]).toEqual([name, 201, 200])
      expect(read.body.id).toBe(made.body.id)
    }
  })

  test('of digits does not hide the label that has the number', async () => {
    const { body: first } = await make(`/projects/${inside}`, 'numbered')
    const { body: second } = await make(`/projects/${inside}`, String(first.id))
    const read = await ana.get(`/projects/${inside}/labels/${first.id}`)
    expect(read.body.name).toBe('numbered')
    expect((await ana.get(`/projects/${inside}/labels/${second.id}`)).body.name).toBe(
      String(first.id),
    )
  })
})

describe('scoped labels', () => {
  let one: string
  const labelsOf = async () => (await ana.get(one)).body.labels

  beforeAll(async () => {
    const { body } = await ana.post(`/projects/${inside}/issues`, { title: 'scoped' })
    one = `/projects/${inside}/issues/${body.iid}`
  })

  test('replace each other, the last one given stays', async () => {
    await make(`/projects/${inside}`, 'p::1')
    await ana.put(one, { labels: 'p::1,p::2,plain' })
    expect(await labelsOf()).toEqual(['p::2', 'plain'])
    await ana.put(one, { add_labels: 'p::3' })
    expect(await labelsOf()).toEqual(['p::3', 'plain'])
    await ana.post(`${one}/notes`, { body: '/label ~p::1' })
    expect(await labelsOf()).toEqual(['p::1', 'plain'])
  })

  test('are one set up to the last pair of colons', async () => {
    await ana.put(one, { labels: 'a::b::1,a::c::1,a::1' })
    expect(await labelsOf()).toEqual(['a::1', 'a::b::1', 'a::c::1'])
    await ana.put(one, { add_labels: 'a::b::2' })
    expect(await labelsOf()).toEqual(['a::1', 'a::b::2', 'a::c::1'])
    await ana.put(one, { labels: '::x,::y' })
    expect(await labelsOf()).toEqual(['::x', '::y'])
  })

  test('that go make an event, as if they had been taken away', async () => {
    const { body } = await ana.post(`/projects/${inside}/issues`, { title: 'e', labels: 'q::1' })
    const at = `/projects/${inside}/issues/${body.iid}`
    await ana.put(at, { add_labels: 'q::2', remove_labels: 'unknown' })
    const events = await ana.get(`${at}/resource_label_events`)
    expect(
      events.body.map((e: { action: string; label: { name: string } }) => [e.action, e.label.name]),
    ).toEqual([
      ['add', 'q::1'],
      ['add', 'q::2'],
      ['remove', 'q::1'],
    ])
  })
})

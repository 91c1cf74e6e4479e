import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { Caller, useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, pushImage } from './push-image.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
const people = new Map<string, Caller>()

beforeAll(async () => {
  groupId = (await createGroup(ana, 'g')).id
  people.set('developer', await world.user('developer'))
  people.set('maintainer', await world.user('maintainer'))
  people.set('owner', ana)
  people.set('admin', world.root)
})

function personOf(name: string): Caller {
  const found = people.get(name)
  if (!found) throw new Error(name)
  return found
}

async function newProject(path: string) {
  const { id } = (await ana.post('/projects', { name: path, namespace_id: groupId })).body
  await addMember(world, id, personOf('developer').id, 30)
  await addMember(world, id, personOf('maintainer').id, 40)
  return { id: id as number, rules: `/projects/${id}/registry/protection/tag/rules` }
}

const ruleOf = (pattern: string, push = 'maintainer', remove = 'maintainer') => ({
  tag_name_pattern: pattern,
  minimum_access_level_for_push: push,
  minimum_access_level_for_delete: remove,
})

async function ruled(rules: string, ...given: Parameters<typeof ruleOf>): Promise<number> {
  const made = await ana.post(rules, ruleOf(...given))
  expect(made.status).toBe(201)
  return made.body.id
}

const push = async (name: string, tag: string, who: Caller, layer = `layer of ${tag}`) =>
  (await pushImage(world, who, name, tag, layer)).answer.status
const remove = async (name: string, reference: string, who: Caller) =>
  (await askRegistry(world, who, 'DELETE', `${name}/manifests/${reference}`)).status

describe('a rule for tags', () => {
  const order = ['developer', 'maintainer', 'owner', 'admin']

  test.each(['maintainer', 'owner', 'admin'])(
    'of the level %s is passed by it and those above',
    async (level) => {
      const project = await newProject(`level-${level}`)
      const name = `g/level-${level}/app`
      await ruled(project.rules, '^v', level, level)
      for (const person of order) {
        const may = order.indexOf(person) >= order.indexOf(level)
        const who = personOf(person)
        expect([person, await push(name, `v-${person}`, who)]).toEqual([person, may ? 201 : 403])
        expect(await push(name, `free-${person}`, who)).toBe(201)
        await push(name, `v-gone-${person}`, world.root)
        expect([person, await remove(name, `v-gone-${person}`, who)]).toEqual([
          person,
          may ? 202 : 403,
        ])
      }
    },
  )

  test('keeps pushing and deleting each to a level of its own', async () => {
    const project = await newProject('apart')
    const name = 'g/apart/app'
    await ruled(project.rules, '^p', 'owner', 'maintainer')
    await push(name, 'p1', ana)
    expect(await push(name, 'p1', personOf('maintainer'), 'another')).toBe(403)
    expect(await remove(name, 'p1', personOf('maintainer'))).toBe(202)
    const refused = await pushImage(world, personOf('developer'), name, 'p2')
    expect([refused.answer.status, refused.answer.body.errors[0]]).toMatchObject([
      403,
      { code: 'DENIED', message: 'the tag p2 is protected' },
    ])
    const image = await askRegistry(
      world,
      personOf('developer'),
      'GET',
      `${name}/manifests/${refused.digest}`,
    )
    expect(image.status).toBe(404)
  })

  test('matches any part of a name, unless it says where', async () => {
    const project = await newProject('matching')
    const name = 'g/matching/app'
    const who = personOf('developer')
    const id = await ruled(project.rules, 'rc')
    expect([await push(name, 'a-rc-1', who), await push(name, 'RC', who)]).toEqual([403, 201])
    await ana.patch(`${project.rules}/${id}`, { tag_name_pattern: '^rc$' })
    expect([await push(name, 'a-rc-1', who), await push(name, 'rc', who)]).toEqual([201, 403])
    await ana.patch(`${project.rules}/${id}`, { tag_name_pattern: '(?i)^rc|^v\\d+\\.\\d+$' })
    expect([
      await push(name, 'Rc1', who),
      await push(name, 'v1.2', who),
      await push(name, 'v1.2.3', who),
    ]).toEqual([403, 403, 201])
    expect((await ana.delete(`${project.rules}/${id}`)).status).toBe(204)
    expect(await push(name, 'v1.2', who)).toBe(201)
  })

  test('is one of several: any that matches protects', async () => {
    const project = await newProject('several')
    await ruled(project.rules, '^v', 'maintainer', 'maintainer')
    await ruled(project.rules, '^v1', 'owner', 'owner')
    const name = 'g/several/app'
    const who = personOf('maintainer')
    expect([await push(name, 'v2', who), await push(name, 'v1', who)]).toEqual([201, 403])
  })

  test('is passed by no deploy token, and by a token as by its user', async () => {
    const project = await newProject('tokens')
    const name = 'g/tokens/app'
    await ruled(project.rules, '^v')
    const scopes = ['read_registry', 'write_registry']
    const made = (await ana.post(`/projects/${project.id}/deploy_tokens`, { name: 'd', scopes }))
      .body
    const deploy = new Caller(world.url, made.token, 0, made.username)
    expect([await push(name, 'v1', deploy), await push(name, 'free', deploy)]).toEqual([403, 201])
    const own = world.as(await world.token(personOf('maintainer').id, ['write_registry']))
    expect(await push(name, 'v1', own)).toBe(201)
    expect(await remove(name, 'v1', deploy)).toBe(403)
    expect(await remove(name, 'free', deploy)).toBe(202)
  })

  test('keeps the tag through every way to delete it', async () => {
    const project = await newProject('ways')
    const name = 'g/ways/app'
    await ruled(project.rules, '^v', 'owner', 'owner')
    const { digest, config } = await pushImage(world, ana, name, 'v1')
    const [repository] = (await ana.get(`/projects/${project.id}/registry/repositories`)).body
    const at = `/projects/${project.id}/registry/repositories/${repository.id}`
    const who = personOf('maintainer')
    expect(await remove(name, 'v1', who)).toBe(403)
    expect(await remove(name, digest, who)).toBe(403)
    expect((await askRegistry(world, who, 'DELETE', `${name}/blobs/${config}`)).status).toBe(403)
    const one = await who.delete(`${at}/tags/v1`)
    expect([one.status, one.body.message]).toEqual([403, '403 Forbidden - The tag is protected'])
    const whole = await who.delete(at)
    expect([whole.status, whole.body.message]).toEqual([
      403,
      '403 Forbidden - Some of the tags are protected',
    ])
    expect((await who.delete(`${at}/tags?name_regex_delete=.*`)).status).toBe(202)
    await world.runTasks()
    expect((await ana.get(`${at}/tags/v1`)).status).toBe(200)
    expect((await ana.delete(at)).status).toBe(202)
  })

  test('lets nobody below move a tag to another image, nor take its image under another name', async () => {
    const project = await newProject('moves')
    const name = 'g/moves/app'
    await push(name, 'v1', ana, 'first')
    await ruled(project.rules, '^v')
    const who = personOf('developer')
    expect(await push(name, 'v1', who, 'second')).toBe(403)
    const { body } = await askRegistry(world, who, 'GET', `${name}/manifests/v1`)
    const headers = { 'Content-Type': body.mediaType }
    const text = JSON.stringify(body)
    const copied = await askRegistry(world, who, 'PUT', `${name}/manifests/copy`, text, headers)
    expect(copied.status).toBe(201)
    expect(await remove(name, 'copy', who)).toBe(202)
    expect((await askRegistry(world, who, 'GET', `${name}/manifests/v1`)).status).toBe(200)
  })
})

describe('the rules of a project', () => {
  test('are made, listed, changed in each field, and removed', async () => {
    const { id, rules } = await newProject('life')
    const made = await ana.post(rules, ruleOf('^a', 'maintainer', 'owner'))
    expect(made.body).toEqual({
      id: made.body.id,
      project_id: id,
      ...ruleOf('^a', 'maintainer', 'owner'),
    })
    const second = await ruled(rules, '^b')
    const page = await ana.get(`${rules}?per_page=1&page=2`)
    expect([page.body.length, page.body[0].id, page.headers.get('x-total')]).toEqual([
      1,
      second,
      '2',
    ])
    const at = `${rules}/${made.body.id}`
    for (const change of [
      { tag_name_pattern: '^c' },
      { minimum_access_level_for_push: 'admin' },
      { minimum_access_level_for_delete: 'admin' },
    ]) {
      const changed = await ana.patch(at, change)
      expect([changed.status, changed.body]).toMatchObject([200, change])
    }
    const read = (await ana.get(rules)).body[0]
    expect(read).toEqual({ id: made.body.id, project_id: id, ...ruleOf('^c', 'admin', 'admin') })
    expect((await ana.delete(at)).status).toBe(204)
    expect((await ana.delete(at)).status).toBe(404)
    expect((await ana.patch(at, { tag_name_pattern: 'x' })).status).toBe(404)
  })

  test.each([
    ['without a pattern', { tag_name_pattern: undefined }],
    ['with an empty pattern', { tag_name_pattern: '' }],
    ['with a pattern of 101', { tag_name_pattern: 'a'.repeat(101) }],
    ['with a pattern that is none', { tag_name_pattern: '[' }],
    ['with what only other engines know', { tag_name_pattern: '(?=a)a' }],
    ['without a level for pushing', { minimum_access_level_for_push: undefined }],
    ['without a level for deleting', { minimum_access_level_for_delete: undefined }],
    ['with a level that is none', { minimum_access_level_for_push: 'developer' }],
    ['with a number for a level', { minimum_access_level_for_delete: 40 }],
  ])('take none %s', async (_what, more) => {
    const { rules } = await newProject(`bad ${_what}`.replaceAll(/[^a-z0-9]+/g, '-'))
    expect((await ana.post(rules, { ...ruleOf('^a'), ...more })).status).toBe(400)
    expect((await ana.get(rules)).body).toEqual([])
  })

  test('are five at most, no two with one pattern, also when many come at once', async () => {
    const { rules } = await newProject('most')
    const same = await Promise.all(
      Array.from({ length: 4 }, () => ana.post(rules, ruleOf('^same'))),
    )
    expect(same.map((one) => one.status).sort()).toEqual([201, 422, 422, 422])
    expect(same.find((one) => one.status === 422)?.body).toEqual({
      message: 'Tag name pattern has already been taken',
    })
    const many = await Promise.all(
      Array.from({ length: 8 }, (_, index) => ana.post(rules, ruleOf(`^r${index}`))),
    )
    expect(many.map((one) => one.status).sort()).toEqual([
      ...Array(4).fill(201),
      ...Array(4).fill(422),
    ])
    expect(many.find((one) => one.status === 422)?.body).toEqual({
      message: 'Maximum number of protection rules have been reached.',
    })
    const [, other] = (await ana.get(rules)).body
    const taken = await ana.patch(`${rules}/${other.id}`, { tag_name_pattern: '^same' })
    expect(taken.status).toBe(422)
  })

  test('are found in their own project alone', async () => {
    const [one, two] = [await newProject('one'), await newProject('two')]
    const id = await ruled(one.rules, '^a')
    expect((await ana.patch(`${two.rules}/${id}`, { tag_name_pattern: '^b' })).status).toBe(404)
    expect((await ana.delete(`${two.rules}/${id}`)).status).toBe(404)
    expect((await ana.get(one.rules)).body).toMatchObject([{ id, tag_name_pattern: '^a' }])
    for (const bad of ['x', '0', '9'.repeat(30)]) {
      expect([400, 404]).toContain((await ana.delete(`${one.rules}/${bad}`)).status)
    }
  })
})

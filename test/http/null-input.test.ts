import { describe, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import { withoutNulls } from '../../src/http/null-input.ts'
import { flag, hash, integer, list, text } from '../../src/http/params.ts'
import { validate } from '../../src/http/validate.ts'
import { createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'

describe('null in a parameter', () => {
  const shape = {
    name: text(),
    size: integer().optional(),
    note: text().nullable().optional(),
    open: flag().optional(),
    kind: text().default('plain'),
    range: hash({ from: integer().optional(), to: integer().nullish() }).optional(),
    steps: list(hash({ path: text(), mode: text().optional() })).optional(),
  }
  const read = (input: Record<string, unknown>) => validate(shape, withoutNulls(shape, input))

  test('counts as not given, clears what can be empty, is false for a flag, and goes down', () => {
    const { value, wrong } = read({
      name: 'x',
      size: null,
      note: null,
      open: null,
      kind: null,
      range: { from: null, to: null },
      steps: [{ path: 'a', mode: null }],
      unknown: null,
    })
    expect(wrong).toEqual([])
    expect(value).toEqual({
      name: 'x',
      note: null,
      open: false,
      kind: 'plain',
      range: { to: null },
      steps: [{ path: 'a' }],
    })
  })

  test('is missing where one is required', () => {
    expect(read({ name: null }).wrong).toEqual(['name is missing'])
  })

  test('is refused by no optional parameter of any endpoint', () => {
    const refused = apiEndpoints.flatMap(({ method, path, query, body }) => {
      const all = { ...query, ...body }
      return Object.entries(all)
        .filter(([, schema]) => schema.safeParse(undefined).success)
        .filter(([name, schema]) => {
          const one = { [name]: schema }
          return validate(one, withoutNulls(one, { [name]: null })).wrong.length > 0
        })
        .map(([name]) => `${method} ${path} ${name}`)
    })
    expect(refused).toEqual([])
  })
})

describe('what clients send', () => {
  const world = useWorld()
  const ana = useCaller(world, 'ana')

  test('a group is made of a form in which everything else is null', async () => {
    const group = {
      name: 'nulls',
      path: 'nulls',
      description: null,
      membership_lock: null,
      visibility: null,
      share_with_group_lock: null,
      require_two_factor_authentication: null,
      two_factor_grace_period: null,
      project_creation_level: null,
      auto_devops_enabled: null,
      subgroup_creation_level: null,
      emails_enabled: null,
      mentions_disabled: null,
      lfs_enabled: null,
      default_branch: null,
      default_branch_protection: null,
      default_branch_protection_defaults: null,
      request_access_enabled: null,
      parent_id: null,
      shared_runners_minutes_limit: null,
      extra_shared_runners_minutes_limit: null,
      wiki_access_level: null,
    }
    const made = await ana.post('/groups', group)
    expect(made.status).toBe(201)
    const changed = await ana.put('/groups/nulls', { description: 'text', visibility: null })
    expect(changed.body).toMatchObject({ description: 'text', visibility: made.body.visibility })
    expect((await ana.put('/groups/nulls', { description: null })).body.description).toBe('')
  })

  test('a file is saved again with all that was read of it', async () => {
    const path = '/projects/ana%2Fsaved/repository/files/README.md'
    await createProject(ana, 'saved', { initialize_with_readme: true })
    const saved = await ana.put(path, {
      branch: 'main',
      commit_message: 'Save',
      content: 'new',
      start_branch: null,
      encoding: null,
      author_email: null,
      author_name: null,
      last_commit_id: null,
      execute_filemode: null,
    })
    expect(saved.body).toEqual({ file_path: 'README.md', branch: 'main' })
  })

  test('a key that is null is not one that was sent', async () => {
    const { body } = await ana.post('/projects', { name: 'kept', description: 'stays' })
    const reply = await ana.put(`/projects/${body.id}`, { name: null, path: null, topics: ['a'] })
    expect(reply.body).toMatchObject({ name: 'kept', path: 'kept', description: 'stays' })
  })
})

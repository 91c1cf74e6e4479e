import { beforeAll, describe, expect, test } from 'vitest'
import { fillPlaceholders, isBadgeUrl } from '../../../src/projects/badges/placeholders.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

/** What a URL with `?v=<placeholder>` shows in a project. */
async function filled(projectId: number, placeholder: string): Promise<string> {
  const image_url = `https://x.example/b?v=${placeholder}`
  const query = new URLSearchParams({ link_url: 'https://x.example', image_url })
  const { status, body } = await ana.get(`/projects/${projectId}/badges/render?${query}`)
  expect([status, body.error ?? body.message]).toEqual([200, undefined])
  return body.rendered_image_url.slice('https://x.example/b?v='.length)
}

describe('a placeholder of a badge', () => {
  let inGroup: { id: number }
  let own: { id: number }
  beforeAll(async () => {
    const top = await createGroup(ana, 'top', { name: 'Top Group' })
    const sub = await createGroup(ana, 'sub', { name: 'Sub Group', parent_id: top.id })
    const place = { path: 'my-path', namespace_id: sub.id }
    inGroup = await createProject(ana, 'My Title', { ...place, initialize_with_readme: true })
    own = await createProject(ana, 'Own')
  })

  test.each([
    ['%{project_path}', 'top/sub/my-path'],
    ['%{project_title}', 'My Title'],
    ['%{project_name}', 'my-path'],
    ['%{project_namespace}', 'top/sub'],
    ['%{group_name}', 'sub'],
    ['%{default_branch}', 'main'],
    ['%7Bproject_name%7D', 'my-path'],
    ['%%7Bproject_name%7D', 'my-path'],
    ['%{project_name}-%{group_name}', 'my-path-sub'],
    ['%{Project_Name}', 'my-path'],
  ])('%s of a project in a group stands for %j', async (placeholder, value) => {
    expect(await filled(inGroup.id, placeholder)).toBe(value)
  })

  test('stands for the number, the server and the tip of the default branch', async () => {
    const { host } = new URL(world.app.config.externalUrl)
    expect(await filled(inGroup.id, '%{project_id}')).toBe(String(inGroup.id))
    expect(await filled(inGroup.id, '%{svc_server}')).toBe(host)
    const tip = (await ana.get(`/projects/${inGroup.id}/repository/branches/main`)).body.commit.id
    expect(await filled(inGroup.id, '%{commit_sha}')).toBe(tip)
  })

  test.each(['%{latest_tag}', '%{unknown}', '%{constructor}', '%{__proto__}', '%{}', '%{a b}'])(
    '%s without a value stays as it was written',
    async (placeholder) => {
      if (placeholder === '%{a b}') return expect(isBadgeUrl(`http://x/${placeholder}`)).toBe(false)
      expect(await filled(inGroup.id, placeholder)).toBe(placeholder)
    },
  )

  test.each(['%{group_name}', '%{default_branch}', '%{commit_sha}', '%{latest_tag}'])(
    '%s stays in an empty project of a person',
    async (placeholder) => {
      expect(await filled(own.id, placeholder)).toBe(placeholder)
    },
  )

  test('stands for the newest tag by its date', async () => {
    const path = `/projects/${inGroup.id}/repository/tags`
    await ana.post(path, { tag_name: 'v10', ref: 'main', message: 'old' })
    world.setNow('2026-05-04T11:00:00.000Z')
    await ana.post(path, { tag_name: 'v2', ref: 'main', message: 'new' })
    expect(await filled(inGroup.id, '%{latest_tag}')).toBe('v2')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('follows the project when that is renamed, and the badge keeps what was written', async () => {
    const badge = { link_url: 'https://x.example/%{project_path}', image_url: 'https://x.example' }
    const made = (await ana.post(`/projects/${own.id}/badges`, badge)).body
    expect(made.rendered_link_url).toBe('https://x.example/ana/own')
    await ana.put(`/projects/${own.id}`, { path: 'owned' })
    expect((await ana.get(`/projects/${own.id}/badges/${made.id}`)).body).toMatchObject({
      link_url: badge.link_url,
      rendered_link_url: 'https://x.example/ana/owned',
    })
  })

  test('is left alone in a group, where no project is looked at', async () => {
    const query = new URLSearchParams({
      link_url: 'https://x.example/%{project_path}',
      image_url: 'https://x.example/%{group_name}',
    })
    const { body } = await ana.get(`/groups/top%2Fsub/badges/render?${query}`)
    expect(body).toEqual({
      name: null,
      link_url: 'https://x.example/%{project_path}',
      rendered_link_url: 'https://x.example/%{project_path}',
      image_url: 'https://x.example/%{group_name}',
      rendered_image_url: 'https://x.example/%{group_name}',
    })
  })
})

test('a rendered badge is shown to those who could add it', async () => {
  const { id } = await createProject(ana, 'Open', { visibility: 'public' })
  const dev = await world.user('dev')
  await ana.post(`/projects/${id}/members`, { user_id: dev.id, access_level: 30 })
  const path = `/projects/${id}/badges/render?link_url=https://a&image_url=https://b`
  expect((await dev.get(path)).status).toBe(403)
  expect((await world.nobody.get(path)).status).toBe(401)
  const missing = await ana.get(`/projects/${id}/badges/render?link_url=https://a`)
  expect([missing.status, missing.body]).toEqual([400, { error: 'image_url is missing' }])
  const blocked = await ana.get(`/projects/${id}/badges/render?link_url=ftp://a&image_url=http://b`)
  expect([blocked.status, Object.keys(blocked.body.message)]).toEqual([400, ['link_url']])
})

test('placeholders are filled in linear time', () => {
  const long = `https://x/${'%{'.repeat(50_000)}${'%7B'.repeat(50_000)}`
  const before = process.hrtime.bigint()
  expect(fillPlaceholders(long, { project_name: 'p' }, ['svc'])).toBe(long)
  expect(Number(process.hrtime.bigint() - before) / 1e6).toBeLessThan(1000)
})

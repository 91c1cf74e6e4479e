import { beforeAll, describe, expect, test } from 'vitest'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let badges: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  badges = `/projects/${project.id}/badges`
})

describe('badges', () => {
  test('fill the placeholders of the project that is looked at', async () => {
    const link_url =
      'https://x.example/%{project_path}/%{project_id}?b=%{default_branch}&n=%{project_name}'
    const image_url =
      'https://x.example/%7Bno%7D/%{commit_sha}/%{latest_tag}/%{svc_server}/%{unknown}'
    const { status, body } = await ana.post(badges, { link_url, image_url, name: 'build' })
    expect(status).toBe(201)
    expect(body.rendered_link_url).toBe(`https://x.example/ana/basic/${project.id}?b=main&n=basic`)
    const sha = project.git('rev-parse', 'main').trim()
    const tag = project.git(
      'for-each-ref',
      '--sort=-creatordate',
      '--count=1',
      '--format=%(refname:short)',
      'refs/tags',
    )
    expect(body.rendered_image_url).toContain(`/${sha}/${tag.trim()}/`)
    expect(body.rendered_image_url).toContain('%{unknown}')
    expect(body).toMatchObject({ kind: 'project', name: 'build', link_url, image_url })
    expect((await ana.get(`${badges}?name=build`)).body).toEqual([body])
    expect((await ana.get(`${badges}?name=Build`)).body).toEqual([])
  })

  test('are previewed without being kept', async () => {
    const query = `link_url=${encodeURIComponent('http://a/%{project_title}')}&image_url=http://b`
    const reply = await ana.get(`${badges}/render?${query}`)
    expect(reply.body).toMatchObject({
      rendered_link_url: 'http://a/basic',
      rendered_image_url: 'http://b',
    })
    expect(reply.body).not.toHaveProperty('id')
  })

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)//http://x',
    'data:text/html,<script>',
    'http://x/"onload="alert(1)',
    'http:///',
    '//x/y',
    'ftp://x/y',
    '',
  ])('%s is no badge URL', async (link_url) => {
    const reply = await ana.post(badges, { link_url, image_url: 'http://x/y' })
    expect(reply.status).toBe(400)
    expect(reply.body.message.link_url).toBeDefined()
  })

  test('of other projects are not found', async () => {
    const other = await addProject(world, ana, 'empty', { path: 'other' })
    const { body } = await ana.post(`/projects/${other.id}/badges`, {
      link_url: 'http://a',
      image_url: 'http://b',
    })
    expect((await ana.get(`${badges}/${body.id}`)).body).toEqual({ message: '404 Badge Not Found' })
    expect((await ana.delete(`${badges}/${body.id}`)).status).toBe(404)
    expect((await ana.delete(`/projects/${other.id}/badges/${body.id}`)).status).toBe(204)
  })
})

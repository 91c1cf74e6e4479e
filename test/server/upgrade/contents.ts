import { expect } from 'vitest'
import { Caller } from '../../support/world.ts'

/** The token of the administrator in servers that tests start. */
export const rootToken = 'root-token-of-this-test'

/** What each kept data folder holds; what is added later is asked for only where it is. */
export async function fillServer(url: string): Promise<void> {
  const root = new Caller(url, rootToken, 1, 'root')
  const post = async (path: string, body: unknown) => {
    const answer = await root.post(path, body)
    if (answer.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const account = { username: 'ana', name: 'Ana', email: 'ana@example.com' }
  await post('/users', { ...account, password: 'correct horse 27', skip_confirmation: true })
  const { id } = await post('/projects', { name: 'demo', initialize_with_readme: true })
  await post(`/projects/${id}/repository/commits`, {
    branch: 'side',
    start_branch: 'main',
    commit_message: 'Add a greeting',
    actions: [{ action: 'create', file_path: 'hello.txt', content: 'hello\n' }],
  })
  await post(`/projects/${id}/labels`, { name: 'bug', color: '#FF0000' })
  await post(`/projects/${id}/issues`, { title: 'It fails', labels: 'bug' })
  await post(`/projects/${id}/issues/1/notes`, { body: 'Here too' })
  const request = { source_branch: 'side', target_branch: 'main', title: 'Greet' }
  await post(`/projects/${id}/merge_requests`, request)
  await post(`/projects/${id}/wikis`, { title: 'home', content: 'Welcome' })
  await post(`/projects/${id}/variables`, { key: 'KEY', value: 'sealed value' })
  const hook = { url: 'https://example.com/hook', push_events: true }
  await post(`/projects/${id}/hooks`, hook)
}

/** Asks an upgraded server for all of it, by reading and by going on with it. */
export async function expectContents(url: string): Promise<void> {
  const root = new Caller(url, rootToken, 1, 'root')
  const project = '/projects/root%2Fdemo'
  const get = async (path: string) => {
    const { status, body } = await root.get(path)
    expect([path, status]).toEqual([path, 200])
    return body
  }
  expect(await get(`${project}/repository/files/hello.txt/raw?ref=side`)).toBe('hello\n')
  expect(await get(`${project}/issues/1`)).toMatchObject({ title: 'It fails', labels: ['bug'] })
  expect(await get(`${project}/issues/1/notes`)).toMatchObject([{ body: 'Here too' }])
  expect(await get(`${project}/wikis/home`)).toMatchObject({ content: 'Welcome' })
  // It is sealed by the key of the folder.
  expect(await get(`${project}/variables/KEY`)).toMatchObject({ value: 'sealed value' })
  expect(await get(`${project}/hooks`)).toMatchObject([{ url: 'https://example.com/hook' }])
  expect(await get('/users?username=ana')).toMatchObject([{ name: 'Ana' }])
  const merged = await root.put(`${project}/merge_requests/1/merge`)
  expect(merged).toMatchObject({ status: 200, body: { state: 'merged' } })
  expect(await get(`${project}/repository/files/hello.txt/raw?ref=main`)).toBe('hello\n')
  const issue = await root.post(`${project}/issues`, { title: 'Another' })
  expect(issue).toMatchObject({ status: 201, body: { iid: 2 } })
}

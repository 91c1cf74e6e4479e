import fs from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import isomorphic from 'isomorphic-git'
import http from 'isomorphic-git/http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildRepository } from '../../fixtures/repositories/build.ts'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
})

afterAll(() => folders.clear())

const author = { name: 'Ana', email: 'ana@example.com' }

describe('isomorphic-git', () => {
  const onAuth = () => ({ username: 'oauth2', password: ana.token ?? '' })

  test('clones, commits and pushes', async () => {
    const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
    const project = await makeProject(world, ana, 'iso', { from: source })
    const dir = await folders.folder()
    await isomorphic.clone({ fs, http, dir, url: project.url(), onAuth, singleBranch: false })
    expect(await gitClient(dir, ['status', '--porcelain'])).toBe('')
    expect(await isomorphic.listBranches({ fs, dir, remote: 'origin' })).toContain('feature/one')
    await writeFile(join(dir, 'new.txt'), 'new\n')
    await isomorphic.add({ fs, dir, filepath: 'new.txt' })
    const oid = await isomorphic.commit({ fs, dir, message: 'New', author })
    const result = await isomorphic.push({ fs, http, dir, onAuth, ref: 'main', remoteRef: 'topic' })
    expect(result).toMatchObject({ ok: true, refs: { 'refs/heads/topic': { ok: true } } })
    expect(await gitClient(project.repository, ['rev-parse', 'topic'])).toBe(oid)
  })

  test('hears which ref was refused', async () => {
    const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
    const project = await makeProject(world, ana, 'iso-refused', { from: source })
    const dir = await folders.folder()
    await isomorphic.clone({ fs, http, dir, url: project.url(), onAuth })
    const failed = isomorphic.push({
      fs,
      http,
      dir,
      onAuth,
      ref: 'main',
      remoteRef: 'a'.repeat(40),
    })
    await expect(failed).rejects.toThrow(/refs\/heads\/a{40}: pre-receive hook declined/)
  })

  test('fetches with a depth', async () => {
    const source = await buildRepository('basic', join(await folders.folder(), 'basic.git'))
    const project = await makeProject(world, ana, 'iso-depth', { from: source })
    const dir = await folders.folder()
    const how = { depth: 2, singleBranch: true, noTags: true }
    await isomorphic.clone({ fs, http, dir, url: project.url(), onAuth, ...how })
    expect(await gitClient(dir, ['rev-list', '--count', 'HEAD'])).toBe('2')
  })
})

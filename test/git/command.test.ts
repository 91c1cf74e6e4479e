import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runGit } from '../../src/git/command.ts'
import { type GitWorld, openGitWorld } from '../support/git.ts'

let world: GitWorld
beforeAll(() => {
  world = openGitWorld()
})
afterAll(() => world.close())

test('a command on a repository that was deleted meanwhile says that it is not there', async () => {
  const repo = join(world.folder, 'deleted.git')
  await expect(runGit({ repo, args: ['for-each-ref'] })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('a program that somebody else kills is one that may come through the next time', async () => {
  const config = { 'alias.end': '!kill -KILL $PPID' }
  await expect(runGit({ args: ['end'], config })).rejects.toMatchObject({
    code: 'busy',
    message: 'git end was ended by SIGKILL',
  })
})

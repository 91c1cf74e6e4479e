import { randomPassword } from '../identity/users/create/create-user.ts'
import { updateUser } from '../identity/users/update-user.ts'
import { command } from './command.ts'
import { namedUser } from './find-user.ts'
import { withData } from './open.ts'

export const userResetPassword = command({
  name: 'user reset-password',
  summary: 'Give a user another password; who is signed in with the old one is signed out',
  args: ['username'],
  options: {
    'password-stdin': {
      type: 'boolean',
      doc: 'Read the password from standard input; otherwise one is made and shown once',
    },
  },
  async run(call) {
    const [username = ''] = call.args
    const given = call.options['password-stdin'] === true
    const password = given ? (await call.readInput()).replace(/\r?\n$/, '') : randomPassword()
    const user = await withData(call, async (ctx) =>
      updateUser(ctx, await namedUser(ctx, username), { password }),
    )
    const state = user.state === 'active' ? '' : `, who is ${user.state} and cannot sign in`
    return {
      lines: [
        `user ${user.username} (${user.id}) has a new password${state}`,
        ...(given ? [] : [`password ${password} (shown once)`]),
      ],
      data: {
        id: user.id,
        username: user.username,
        state: user.state,
        ...(given ? {} : { password }),
      },
    }
  },
})

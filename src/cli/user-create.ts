import { createUser, randomPassword } from '../identity/users/create/create-user.ts'
import { command, UsageError } from './command.ts'
import { withData } from './open.ts'

export const userCreate = command({
  name: 'user create',
  summary: 'Create a user',
  args: ['username'],
  options: {
    email: { type: 'string', value: '<address>', doc: 'E-mail address; required' },
    name: { type: 'string', doc: 'Full name; otherwise the username' },
    admin: { type: 'boolean', doc: 'Make an administrator' },
    'password-stdin': {
      type: 'boolean',
      doc: 'Read the password from standard input; otherwise one is made and shown once',
    },
  },
  async run(call) {
    const [username = ''] = call.args
    const { email, name = username, admin = false } = call.options
    if (email === undefined) throw new UsageError('--email is missing')
    const given = call.options['password-stdin'] === true
    const password = given ? (await call.readInput()).replace(/\r?\n$/, '') : randomPassword()
    const user = await withData(call, (ctx) =>
      createUser(ctx, { username, name, email, admin, password, skip_confirmation: true }),
    )
    const secret = given ? {} : { password }
    return {
      lines: [
        `user ${user.username} (${user.id})${admin ? ', administrator' : ''}`,
        ...(given ? [] : [`password ${password} (shown once)`]),
      ],
      data: { id: user.id, username: user.username, email: user.email, admin, ...secret },
    }
  },
})

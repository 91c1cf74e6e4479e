import { turnOffSecondFactor } from '../identity/two-factor/turn-off.ts'
import { command } from './command.ts'
import { namedUser } from './find-user.ts'
import { withData } from './open.ts'

export const userDisableTwoFactor = command({
  name: 'user disable-two-factor',
  summary: 'Take the second factor of a user away, who has lost it: the password alone signs in',
  args: ['username'],
  options: {},
  async run(call) {
    const [username = ''] = call.args
    const user = await withData(call, async (ctx) => {
      const found = await namedUser(ctx, username)
      await turnOffSecondFactor(ctx, found)
      return found
    })
    return {
      lines: [`user ${user.username} (${user.id}) has no second factor any more`],
      data: { id: user.id, username: user.username },
    }
  },
})

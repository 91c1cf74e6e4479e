import { actAs } from '../../access/act-as.ts'
import type { Ctx } from '../../ctx.ts'
import { getAlertBot } from '../../identity/users/alert-bot.ts'

/** The same ctx in the name of the bot that looks after alerts. */
export async function actAsAlertBot(ctx: Ctx): Promise<Ctx> {
  const bot = await getAlertBot(ctx)
  return await actAs(ctx, bot.id)
}

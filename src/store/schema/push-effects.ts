export interface PushEffectsTable {
  push_id: number
  effect: string
}

export interface PushEffectsSchema {
  push_effects: PushEffectsTable
}

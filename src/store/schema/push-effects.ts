export interface PushEffectsSchema {
  push_effects: {
    push_id: number
    effect: string
  }
}

declare const accepted: unique symbol;

/** A schema of the form `S` that accepts values of the type `T`. The property exists for the compiler only. */
export type Typed<S, T> = S & { readonly [accepted]?: T };

/** The type of the values that a schema accepts. */
export type Infer<S> = S extends { readonly [accepted]?: infer T } ? T : never;

/** An object with these properties, of which those named by `Optional` may be absent. */
export type ObjectOf<Properties, Optional extends keyof Properties = never> = Flat<
  { -readonly [K in keyof Properties as Exclude<K, Optional>]: Infer<Properties[K]> } & {
    -readonly [K in keyof Properties as Extract<K, Optional>]?: Infer<Properties[K]>;
  }
>;

/** One object type for an intersection of several. */
type Flat<T> = { [K in keyof T]: T[K] };

/* The stretch of time that every chart of a page shows: one, so that they always show the same. Seconds since the window
 * began. */

export class Range {
	from: number;
	to: number;
	private readonly listeners: (() => void)[] = [];

	/* `length`: of the window; `least`: no stretch is shorter. */
	constructor(readonly length: number, readonly least: number) {
		this.from = 0;
		this.to = length;
	}

	get span(): number {
		return this.to - this.from;
	}

	get whole(): boolean {
		return this.from <= 0 && this.to >= this.length;
	}

	onChange(listener: () => void): void {
		this.listeners.push(listener);
	}

	/* What reaches beyond the window is moved into it; what is too short grows to both sides. */
	set(from: number, to: number): void {
		const span = Math.min(Math.max(to - from, this.least), this.length);
		const begin = Math.min(Math.max((from + to - span) / 2, 0), this.length - span);

		if (begin === this.from && begin + span === this.to)
			return;
		this.from = begin;
		this.to = begin + span;
		for (const listener of this.listeners)
			listener();
	}

	/* By a factor, below 1 to see more detail; what is in the middle stays there. */
	zoom(factor: number): void {
		const middle = (this.from + this.to) / 2, half = (this.span * factor) / 2;

		this.set(middle - half, middle + half);
	}

	/* By a share of what is shown, below 0 to the past. */
	move(share: number): void {
		const by = Math.min(Math.max(this.span * share, -this.from), this.length - this.to);

		this.set(this.from + by, this.to + by);
	}

	reset(): void {
		this.set(0, this.length);
	}

	/* With some of what was before and after it. */
	show(from: number, to: number): void {
		const around = Math.max((to - from) * 0.1, this.least / 2);

		this.set(Math.max(from - around, 0), Math.min(to + around, this.length));
	}

	/* What a key does, if it does something. */
	key(name: string): boolean {
		switch (name) {
		case "+":
		case "=":
			this.zoom(0.5);
			return true;
		case "-":
			this.zoom(2);
			return true;
		case "ArrowLeft":
			this.move(-0.25);
			return true;
		case "ArrowRight":
			this.move(0.25);
			return true;
		case "0":
		case "Escape":
			this.reset();
			return true;
		default:
			return false;
		}
	}
}

/* The timeline on a canvas that is as large as what one sees, whatever the number of processes; search, zoom, hover, pin. */
import { make } from "../common/dom";
import { sayDuration } from "../common/units";
import { details, tip } from "./details";
import type { Timeline } from "./document";
import { endOf, rowsOf, search, type Row } from "./rows";
import { DARK, draw, gutterOf, headOf, LANE, LIGHT, rowAt, sceneOf, timeAt, type Scene, type View } from "./scene";
import { STATES, TITLES } from "./states";
import { CanvasSurface } from "./surface";

const SHORTEST = 1e-5;

export class Viewer {
	private readonly all: Row[];
	private scene: Scene;
	private readonly view: View;
	private readonly canvas = make("canvas", "");
	private readonly room = make("div", "room");
	private readonly scroll = make("div", "scroll", this.room, this.canvas);
	private readonly aside = make("aside", "");
	private readonly tip = make("div", "tip");
	private readonly found = make("output", "found");
	private readonly field = make("input", "");
	private pending = false;
	private pressed: { x: number; y: number; time: number } | null = null;

	constructor(private readonly timeline: Timeline, place: HTMLElement) {
		this.all = rowsOf(timeline);
		this.scene = sceneOf(timeline, this.all);
		this.view = {
			width: 0, height: 0, from: 0, to: this.length(), scroll: 0, theme: LIGHT, selected: null, pinned: null, cursor: null, drag: null,
		};
		this.scroll.tabIndex = 0;
		this.scroll.setAttribute("role", "application");
		this.scroll.setAttribute("aria-label", "Lanes of processes. Arrows move, plus and minus zoom, Enter pins, 0 shows all, slash searches.");
		this.aside.hidden = this.tip.hidden = true;
		this.aside.setAttribute("aria-live", "polite");
		place.append(this.header(), this.legend(), make("div", "lanes", this.scroll, this.aside), this.tip);
		this.listen();
		this.show(this.all);
	}

	private length(): number {
		return Math.max(this.timeline.window.seconds, SHORTEST);
	}

	/* ---- what stands around it ---- */

	private header(): HTMLElement {
		const { meta, window, processes, cpus } = this.timeline;
		const about = [
			window.begin === null ? "" : `${this.scene.clock.day(0)} ${this.scene.clock.time(0)} ${this.scene.clock.zone}`,
			sayDuration(window.seconds),
			`${processes.length} processes`,
			cpus === null ? "" : `${cpus} CPUs`,
		];
		const reset = make("button", "reset", "All of it");

		this.field.type = "search";
		this.field.placeholder = "Search name, command, pid";
		this.field.setAttribute("aria-label", "Search processes");
		reset.type = "button";
		reset.addEventListener("click", () => this.zoomTo(0, this.length()));
		return make(
			"header",
			"",
			make("h1", "", meta.label || meta.host || "timeline"),
			make("span", "about", about.filter(Boolean).join(" · ")),
			make("div", "tools", this.found, this.field, reset),
		);
	}

	private legend(): HTMLElement {
		const { grain, left_out, processes } = this.timeline;
		const notes = [
			processes.some((each) => each.critical) ? "bold: the chain that set the time" : "",
			grain === null ? "" : `stretches shorter than ${sayDuration(grain)} are put together`,
			left_out ? `${left_out} more processes are left out` : "",
		];

		return make(
			"ul",
			"legend",
			...STATES.map((state) => make("li", state, TITLES[state])),
			make("li", "note", notes.filter(Boolean).join(" · ")),
		);
	}

	/* ---- drawing ---- */

	private redraw(): void {
		if (this.pending)
			return;
		this.pending = true;
		requestAnimationFrame(() => {
			this.pending = false;
			this.paint();
		});
	}

	private paint(): void {
		const context = this.canvas.getContext("2d");
		const ratio = window.devicePixelRatio || 1;
		const { view } = this;

		view.theme = matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT;
		view.width = this.scroll.clientWidth;
		view.height = this.scroll.clientHeight;
		view.scroll = this.scroll.scrollTop;
		this.canvas.style.width = `${view.width}px`;
		this.canvas.style.height = `${view.height}px`;
		this.canvas.width = Math.round(view.width * ratio);
		this.canvas.height = Math.round(view.height * ratio);
		if (!context || !view.width || !view.height)
			return;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		draw(new CanvasSurface(context), this.scene, view);
	}

	private show(rows: Row[]): void {
		const hits = rows.filter((row) => row.found).length;

		this.scene = sceneOf(this.timeline, rows);
		this.room.style.height = `${headOf(this.scene) + rows.length * LANE}px`;
		this.found.textContent = this.field.value.trim() ? `${hits} found` : "";
		this.redraw();
	}

	/* ---- time ---- */

	private zoomTo(from: number, to: number): void {
		const whole = this.length(), length = Math.min(whole, Math.max(SHORTEST, to - from));

		this.view.from = Math.max(0, Math.min(whole - length, from));
		this.view.to = this.view.from + length;
		this.redraw();
	}

	private zoomAt(moment: number, factor: number): void {
		this.zoomTo(moment - (moment - this.view.from) * factor, moment + (this.view.to - moment) * factor);
	}

	private move(share: number): void {
		const by = (this.view.to - this.view.from) * share;

		this.zoomTo(this.view.from + by, this.view.to + by);
	}

	/* ---- choosing ---- */

	private rowOf(id: number | null): number {
		return this.scene.rows.findIndex((row) => row.process.id === id);
	}

	private select(index: number): void {
		const row = this.scene.rows[Math.max(0, Math.min(this.scene.rows.length - 1, index))];

		if (!row)
			return;
		const top = this.scene.rows.indexOf(row) * LANE, room = this.scroll.clientHeight - headOf(this.scene);

		this.view.selected = row.process.id;
		if (top < this.scroll.scrollTop)
			this.scroll.scrollTop = top;
		else if (top + LANE > this.scroll.scrollTop + room)
			this.scroll.scrollTop = top + LANE - room;
		this.redraw();
	}

	/* null: nothing is pinned any more. */
	private pin(row: Row | null): void {
		this.view.pinned = row?.process.id ?? null;
		this.aside.hidden = row === null;
		this.aside.replaceChildren(...(row ? [details(row.process, this.scene.clock)] : []));
		if (row)
			this.view.selected = row.process.id;
		this.redraw();
	}

	private next(by: number): void {
		const rows = this.scene.rows, count = rows.length, at = this.rowOf(this.view.selected);

		for (let n = 1; n <= count; n++) {
			const index = (((at + by * n) % count) + count) % count;

			if (rows[index]!.found)
				return this.select(index);
		}
	}

	/* ---- events ---- */

	private hover(event: PointerEvent): void {
		const row = rowAt(this.scene, this.view, event.offsetY);
		const inside = event.offsetX >= gutterOf(this.view);
		const moment = timeAt(this.view, event.offsetX);

		this.view.cursor = inside ? moment : null;
		if (this.pressed && inside && Math.abs(event.offsetX - this.pressed.x) > 4)
			this.view.drag = [this.pressed.time, moment];
		this.tip.hidden = !row || this.view.drag !== null;
		if (row) {
			const shown = inside ? moment : Math.min(Math.max(row.process.start, 0), endOf(row.process));

			this.tip.replaceChildren(tip(row.process, shown, this.scene.clock));
			this.tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - this.tip.offsetWidth - 8))}px`;
			this.tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, innerHeight - this.tip.offsetHeight - 8))}px`;
		}
		this.redraw();
	}

	private release(event: PointerEvent): void {
		const drag = this.view.drag;

		this.view.drag = null;
		if (drag)
			this.zoomTo(Math.min(...drag), Math.max(...drag));
		else if (this.pressed)
			this.pin(rowAt(this.scene, this.view, event.offsetY));
		this.pressed = null;
	}

	private wheel(event: WheelEvent): void {
		const zoom = event.ctrlKey || event.metaKey || event.offsetY < headOf(this.scene);

		if (zoom) {
			event.preventDefault();
			this.zoomAt(timeAt(this.view, Math.max(event.offsetX, gutterOf(this.view))), Math.exp(event.deltaY * 0.0025));
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			this.move((event.deltaX || event.deltaY) / 800);
		}
	}

	private key(event: KeyboardEvent): void {
		const middle = this.view.cursor ?? (this.view.from + this.view.to) / 2;
		const page = Math.max(1, Math.floor((this.scroll.clientHeight - headOf(this.scene)) / LANE) - 1);
		const selected = this.rowOf(this.view.selected);
		const keys: Record<string, () => void> = {
			"+": () => this.zoomAt(middle, 0.6),
			"=": () => this.zoomAt(middle, 0.6),
			"-": () => this.zoomAt(middle, 1 / 0.6),
			"0": () => this.zoomTo(0, this.length()),
			ArrowLeft: () => this.move(-0.2),
			ArrowRight: () => this.move(0.2),
			ArrowDown: () => this.select(selected + 1),
			ArrowUp: () => this.select(selected - 1),
			PageDown: () => this.select(selected + page),
			PageUp: () => this.select(selected - page),
			Home: () => this.select(0),
			End: () => this.select(this.scene.rows.length - 1),
			Enter: () => this.pin(this.scene.rows[selected] ?? null),
			Escape: () => this.pin(null),
			n: () => this.next(1),
			N: () => this.next(-1),
			"/": () => this.field.focus(),
		};
		const run = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];

		if (!run)
			return;
		event.preventDefault();
		run();
	}

	private listen(): void {
		this.field.addEventListener("input", () => {
			this.scroll.scrollTop = 0;
			this.show(search(this.all, this.field.value));
		});
		this.field.addEventListener("keydown", (event) => {
			if (event.key !== "Enter" && event.key !== "Escape")
				return;
			if (event.key === "Escape") {
				this.field.value = "";
				this.show(this.all);
			}
			this.scroll.focus();
			this.next(1);
		});
		this.scroll.addEventListener("keydown", (event) => this.key(event));
		this.scroll.addEventListener("scroll", () => {
			this.tip.hidden = true;
			this.redraw();
		});
		this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		this.canvas.addEventListener("pointermove", (event) => this.hover(event));
		this.canvas.addEventListener("pointerleave", () => {
			this.view.cursor = null;
			this.tip.hidden = true;
			this.redraw();
		});
		this.canvas.addEventListener("pointerdown", (event) => {
			if (event.button === 0)
				this.pressed = { x: event.offsetX, y: event.offsetY, time: timeAt(this.view, Math.max(event.offsetX, gutterOf(this.view))) };
		});
		this.canvas.addEventListener("pointerup", (event) => this.release(event));
		this.canvas.addEventListener("dblclick", () => this.zoomTo(0, this.length()));
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
		new ResizeObserver(() => this.redraw()).observe(this.scroll);
	}
}

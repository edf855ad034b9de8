/* The arithmetic of the limit stage: one call per tick limits the command of every joint.

limit_stage.py describes the rules; each is a function of one joint here. The numpy of
test/safety/limit_oracle.py computes the same, bit for bit: that needs IEEE arithmetic without
contraction (see setup.py). The limited API: one binary for Python 3.11 and all later versions.

The kernel points into arrays of the limit stage. It checks them once and holds them as long as it
exists. It checks type and shape of state and command in every call. */

#include <Python.h>

#include <float.h>
#include <math.h>
#include <stdint.h>

#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__)
#error "the limits need IEEE doubles that are rounded after each operation: no -ffast-math, no x87"
#endif

static const double STEP_ROUNDING = 1.001; /* a target may move at the velocity limit itself */
static const double LEAST_STIFFNESS = 1e-9; /* [Nm/rad] keeps the allowed distance finite */
static const double ROUNDING = 1e-9; /* relative; a torque at its bound is no torque beyond it */
/* Times its velocity limit: no spring drives a joint that is so fast, beyond what its damping takes
at the limit. A soft arm swings after its target, which moves at the limit itself. */
static const double FASTEST_DRIVEN = 1.5;

/* Rows of `counts`, as in `Limited`. The limit stage counts self-collision. */
enum { POSITION, VELOCITY, EFFORT, STEP, SPRING, TORQUE, GAINS, SELF_COLLISION, KINDS };

typedef struct {
    /* Limits: [rad], [rad/s], [Nm], [Nm/rad], [Nm s/rad]; soft: [1/s], [Nm s/rad], 0 for none. */
    double lower, upper, largest_velocity, largest_effort, largest_stiffness, largest_damping;
    double position_gain, velocity_gain;
    double measured, speed; /* [rad], [rad/s] */
    double position, velocity, effort, stiffness, damping; /* the command */
    double realized; /* [Nm/rad] that the drive holds; NaN: the command's stiffness acts */
    int64_t *counts; /* of this joint, the row of a kind is `stride` further on than that before */
    Py_ssize_t stride;
} Joint;

static void count(Joint *joint, int kind, int limited)
{
    joint->counts[kind * joint->stride] += limited;
}

/* NaN is passed on, as by numpy. */
static double larger(double a, double b) { return a >= b || isnan(a) ? a : b; }

static double smaller(double a, double b) { return a <= b || isnan(a) ? a : b; }

static double between(double value, double low, double high)
{
    return smaller(larger(value, low), high);
}

static int is_realized(const Joint *joint) { return isfinite(joint->realized); }

static double acting_stiffness(const Joint *joint)
{
    return is_realized(joint) ? joint->realized : joint->stiffness;
}

/* Drives with gains of their own damp by themselves. */
static double acting_damping(const Joint *joint)
{
    return is_realized(joint) ? 0.0 : joint->damping;
}

static void limit_gains(Joint *joint)
{
    count(joint, GAINS, joint->stiffness > joint->largest_stiffness ||
                            joint->damping > joint->largest_damping);
    joint->stiffness = smaller(joint->stiffness, joint->largest_stiffness);
    joint->damping = smaller(joint->damping, joint->largest_damping);
}

/* How far [rad] a target may be on the side to which the joint moves at `speed` [rad/s]. */
static double reach(const Joint *joint, double speed)
{
    double part = speed / (FASTEST_DRIVEN * joint->largest_velocity);
    /* This takes a joint to its velocity limit. */
    double slow = smaller(acting_damping(joint) * joint->largest_velocity, joint->largest_effort);
    double torque = larger(joint->largest_effort * smaller(1.0 - part, 1.0), slow);
    return torque / larger(acting_stiffness(joint), LEAST_STIFFNESS);
}

/* `before` [rad]: the target of the tick before; `step` [rad]: how far it may move. */
static void limit_target(Joint *joint, double before, double step)
{
    double measured = joint->measured;
    double low = smaller(joint->lower, measured);
    double high = larger(joint->upper, measured);
    double in_range = between(joint->position, low, high);
    double stepped = between(in_range, before - step, before + step);
    /* The measured position lies in this range, too: both limits can be kept. */
    double kept = between(stepped, low, high);
    double below = reach(joint, -joint->speed), above = reach(joint, joint->speed);
    double near = between(kept, measured - below, measured + above);
    count(joint, POSITION, in_range != joint->position);
    count(joint, STEP, stepped != in_range);
    count(joint, SPRING, near != kept);
    joint->position = near;
}

/* The largest speed [rad/s] and effort [Nm] towards an end `distance` [rad] away from a joint that
moves there at `speed` [rad/s]: within `velocity` and `effort`, at first the joint's limits. */
static void approach(const Joint *joint, double distance, double speed, double *velocity,
                     double *effort)
{
    double slowed = INFINITY, braked = INFINITY;
    if (joint->position_gain > 0.0)
        slowed = joint->position_gain * larger(distance, 0.0);
    if (joint->velocity_gain * joint->position_gain > 0.0)
        braked = joint->velocity_gain * (slowed - speed);
    *velocity = smaller(joint->largest_velocity, slowed);
    *effort = smaller(joint->largest_effort, larger(braked, 0.0));
}

static void limit_velocity_and_effort(Joint *joint)
{
    double down, up, least, most;
    approach(joint, joint->measured - joint->lower, -joint->speed, &down, &least);
    approach(joint, joint->upper - joint->measured, joint->speed, &up, &most);
    double velocity = between(joint->velocity, -down, up);
    double effort = between(joint->effort, -least, most);
    count(joint, VELOCITY, velocity != joint->velocity);
    count(joint, EFFORT, effort != joint->effort);
    joint->velocity = velocity;
    joint->effort = effort;
}

/* Stiffness, damping and feed-forward together: only what drives the joint is scaled down. */
static void limit_torque(Joint *joint)
{
    double stiffness = acting_stiffness(joint), damping = acting_damping(joint);
    double away = joint->position - joint->measured;
    double pushed = is_realized(joint) ? 0.0 : joint->effort;
    double drive = stiffness * away + damping * joint->velocity + pushed;
    double braking = -damping * joint->speed;
    /* 0 is always allowed: the drive never has to work against the braking. */
    double low = smaller(-joint->largest_effort - braking, 0.0);
    double high = larger(joint->largest_effort - braking, 0.0);
    double rounding = ROUNDING * joint->largest_effort;
    int beyond = drive > high + rounding || drive < low - rounding;
    count(joint, TORQUE, beyond);
    if (!beyond)
        return;
    double scale = between(drive, low, high) / drive;
    joint->position = joint->measured + scale * away;
    joint->velocity *= scale;
    joint->effort *= scale;
}

/* The arrays, by the names of LimitKernel's arguments. */
enum {
    LOWER, UPPER, LARGEST_VELOCITY, LARGEST_EFFORT, LARGEST_STIFFNESS, LARGEST_DAMPING,
    POSITION_GAIN, VELOCITY_GAIN, REALIZED, BEFORE, TARGET, ACTS, COUNTS, ARRAYS
};

typedef struct {
    const char *name;
    char type; /* of the elements, in the words of Python's struct */
    Py_ssize_t size; /* [bytes] of an element */
    Py_ssize_t rows; /* 0: the array has one dimension */
    int flags; /* PyBUF_WRITABLE where the kernel writes */
} Layout;

static const Layout LAYOUTS[ARRAYS] = {
    [LOWER] = {"lower", 'd', sizeof(double), 0, 0},
    [UPPER] = {"upper", 'd', sizeof(double), 0, 0},
    [LARGEST_VELOCITY] = {"velocity", 'd', sizeof(double), 0, 0},
    [LARGEST_EFFORT] = {"effort", 'd', sizeof(double), 0, 0},
    [LARGEST_STIFFNESS] = {"stiffness", 'd', sizeof(double), 0, 0},
    [LARGEST_DAMPING] = {"damping", 'd', sizeof(double), 0, 0},
    [POSITION_GAIN] = {"position_gain", 'd', sizeof(double), 0, 0},
    [VELOCITY_GAIN] = {"velocity_gain", 'd', sizeof(double), 0, 0},
    [REALIZED] = {"realized", 'd', sizeof(double), 0, 0},
    [BEFORE] = {"before", 'd', sizeof(double), 0, PyBUF_WRITABLE},
    [TARGET] = {"target", 'd', sizeof(double), 0, PyBUF_WRITABLE},
    [ACTS] = {"acts", '?', 1, 0, PyBUF_WRITABLE},
    [COUNTS] = {"counts", 'l', sizeof(int64_t), KINDS, PyBUF_WRITABLE},
};
static const Layout STATE = {"state", 'd', sizeof(double), 3, 0};
static const Layout COMMAND = {"command", 'd', sizeof(double), 5, PyBUF_WRITABLE};

typedef struct {
    PyObject_HEAD
    Py_ssize_t count; /* of joints */
    Py_buffer arrays[ARRAYS];
} Kernel;

static double *row(const Kernel *self, int array) { return self->arrays[array].buf; }

static Joint joint_at(const Kernel *self, Py_ssize_t i, const double *state, const double *command)
{
    Py_ssize_t n = self->count;
    return (Joint){
        .lower = row(self, LOWER)[i],
        .upper = row(self, UPPER)[i],
        .largest_velocity = row(self, LARGEST_VELOCITY)[i],
        .largest_effort = row(self, LARGEST_EFFORT)[i],
        .largest_stiffness = row(self, LARGEST_STIFFNESS)[i],
        .largest_damping = row(self, LARGEST_DAMPING)[i],
        .position_gain = row(self, POSITION_GAIN)[i],
        .velocity_gain = row(self, VELOCITY_GAIN)[i],
        .measured = state[i],
        .speed = state[n + i],
        .position = command[i],
        .velocity = command[n + i],
        .effort = command[2 * n + i],
        .stiffness = command[3 * n + i],
        .damping = command[4 * n + i],
        .realized = row(self, REALIZED)[i],
        .counts = (int64_t *)self->arrays[COUNTS].buf + i,
        .stride = n,
    };
}

static void put_back(const Kernel *self, Py_ssize_t i, const Joint *joint, double *command)
{
    Py_ssize_t n = self->count;
    command[i] = row(self, TARGET)[i] = joint->position;
    command[n + i] = joint->velocity;
    command[2 * n + i] = joint->effort;
    command[3 * n + i] = joint->stiffness;
    command[4 * n + i] = joint->damping;
}

static void limit_all(const Kernel *self, const double *state, double *command, double period)
{
    char *acts = self->arrays[ACTS].buf;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Joint joint = joint_at(self, i, state, command);
        limit_gains(&joint);
        int acted = acts[i];
        acts[i] = acting_stiffness(&joint) > 0.0;
        /* Where stiffness begins, the target moves from the measured position on. */
        double before = acts[i] && acted ? row(self, TARGET)[i] : joint.measured;
        double step = acts[i] ? joint.largest_velocity * (period * STEP_ROUNDING) : INFINITY;
        limit_target(&joint, before, step);
        limit_velocity_and_effort(&joint);
        limit_torque(&joint);
        row(self, BEFORE)[i] = before;
        put_back(self, i, &joint, command);
    }
}

static void limit_torques(const Kernel *self, const double *state, double *command)
{
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Joint joint = joint_at(self, i, state, command);
        limit_torque(&joint);
        put_back(self, i, &joint, command);
    }
}

/* Take the buffer of `array` if it has the layout for `count` joints: 0, else -1 and an error. */
static int take(PyObject *array, const Layout *layout, Py_ssize_t count, Py_buffer *view)
{
    if (PyObject_GetBuffer(array, view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | layout->flags) < 0)
        return -1;
    int dimensions = layout->rows ? 2 : 1;
    Py_ssize_t rows = layout->rows ? layout->rows : 1;
    const char *format = view->format ? view->format : "B";
    if (format[0] == layout->type && format[1] == '\0' && view->itemsize == layout->size &&
        (uintptr_t)view->buf % (uintptr_t)layout->size == 0 && view->ndim == dimensions &&
        view->shape[dimensions - 1] == count && view->len == rows * count * layout->size)
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "%s: found %d dimensions, %zd bytes, type '%s'; expected %d dimensions, %zd "
                 "aligned bytes, type '%c': %zd values of each of %zd joints",
                 layout->name, view->ndim, view->len, format, dimensions,
                 rows * count * layout->size, layout->type, rows, count);
    PyBuffer_Release(view);
    return -1;
}

/* The body of both methods. Without `period` [s] only the torque is limited. */
static PyObject *limit(Kernel *self, PyObject *state, PyObject *command, const double *period)
{
    Py_buffer measured, written;
    if (take(state, &STATE, self->count, &measured) < 0)
        return NULL;
    if (take(command, &COMMAND, self->count, &written) < 0) {
        PyBuffer_Release(&measured);
        return NULL;
    }
    if (period)
        limit_all(self, measured.buf, written.buf, *period);
    else
        limit_torques(self, measured.buf, written.buf);
    PyBuffer_Release(&measured);
    PyBuffer_Release(&written);
    Py_RETURN_NONE;
}

static PyObject *kernel_limit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3)
        return PyErr_Format(PyExc_TypeError, "expected state, command, period");
    double period = PyFloat_AsDouble(arguments[2]);
    if (period == -1.0 && PyErr_Occurred())
        return NULL;
    return limit((Kernel *)self, arguments[0], arguments[1], &period);
}

static PyObject *kernel_limit_torque(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2)
        return PyErr_Format(PyExc_TypeError, "expected state, command");
    return limit((Kernel *)self, arguments[0], arguments[1], NULL);
}

static void kernel_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    for (int i = 0; i < ARRAYS; i++)
        PyBuffer_Release(&((Kernel *)self)->arrays[i]); /* nothing where none was taken */
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *positional, PyObject *named)
{
    Py_ssize_t count;
    if (!PyArg_ParseTuple(positional, "n:LimitKernel", &count))
        return NULL;
    if (count < 0 || count > INT32_MAX)
        return PyErr_Format(PyExc_ValueError, "found %zd joints", count);
    if (!named || PyDict_Size(named) != ARRAYS)
        return PyErr_Format(PyExc_TypeError, "expected %d arrays by name", ARRAYS);
    PyObject *self = PyType_GenericAlloc(type, 0); /* filled with 0 */
    if (!self)
        return NULL;
    ((Kernel *)self)->count = count;
    for (int i = 0; i < ARRAYS; i++) {
        PyObject *array = PyDict_GetItemString(named, LAYOUTS[i].name);
        if (!array)
            PyErr_Format(PyExc_TypeError, "no array '%s'", LAYOUTS[i].name);
        if (!array || take(array, &LAYOUTS[i], count, &((Kernel *)self)->arrays[i]) < 0) {
            Py_DECREF(self);
            return NULL;
        }
    }
    return self;
}

static PyMethodDef METHODS[] = {
    {"limit", (PyCFunction)(void (*)(void))kernel_limit, METH_FASTCALL,
     "Limit `command` (5, n) in place for `state` (3, n), `period` [s] after the last call."},
    {"limit_torque", (PyCFunction)(void (*)(void))kernel_limit_torque, METH_FASTCALL,
     "Limit stiffness, damping and feed-forward together, of a command that was changed since."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot KERNEL_SLOTS[] = {
    {Py_tp_doc, "LimitKernel(joint_count, **arrays): see limit_kernel.pyi."},
    {Py_tp_new, (void *)kernel_new},
    {Py_tp_dealloc, (void *)kernel_dealloc},
    {Py_tp_methods, METHODS},
    {0, NULL},
};

static PyType_Spec KERNEL = {
    .name = "humanoid_controller_manager.safety.limit_kernel.LimitKernel",
    .basicsize = sizeof(Kernel),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = KERNEL_SLOTS,
};

static int add(PyObject *module, const char *name, PyObject *value)
{
    int result = value ? PyModule_AddObjectRef(module, name, value) : -1;
    Py_XDECREF(value);
    return result;
}

static int fill_module(PyObject *module)
{
    if (add(module, "LimitKernel", PyType_FromModuleAndSpec(module, &KERNEL, NULL)) < 0)
        return -1;
    return add(module, "LEAST_STIFFNESS", PyFloat_FromDouble(LEAST_STIFFNESS));
}

static PyModuleDef_Slot MODULE_SLOTS[] = {{Py_mod_exec, (void *)fill_module}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "limit_kernel",
    .m_slots = MODULE_SLOTS,
};

PyMODINIT_FUNC PyInit_limit_kernel(void) { return PyModuleDef_Init(&MODULE); }
